"""Models that give the same numbers with less."""

from worker.projection.lighter import lighter
from worker.projection.minilm import MODEL, checked


def test_what_has_nothing_of_the_kind_stays_as_it_is() -> None:
    of_a_node = b"\x0a\x01a\x0a\x01c\x12\x01b\x22\x06Gather"
    graph = b"\x0a" + bytes([len(of_a_node)]) + of_a_node + b"\x12\x05graph"
    for model in (
        b"",
        b"\x08\x0a\x12\x07pytorch",
        b"\x08\xac\x02\x3a" + bytes([len(graph)]) + graph + b"\x19" + b"8" * 8,
    ):
        assert lighter(model) == model


def test_the_default_model_is_made_lighter_once() -> None:
    model = checked(*MODEL).read_bytes()
    made = lighter(model)
    assert (b"IsNaN" in model, b"IsNaN" in made) == (True, False)
    assert lighter(made) == made
