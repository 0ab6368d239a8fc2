from hypothesis import given
from hypothesis import strategies as st

from worker.contract.sse import KEEP_ALIVE, Decoder, Frame, encode

COMMENT = KEEP_ALIVE.replace(b"  ", b"")

FRAMES = st.lists(
    st.builds(
        Frame,
        st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1).map(str.encode),
        st.none() | st.integers(0, 2**60).map(str),
    )
)


def decode(chunks: list[bytes]) -> list[Frame]:
    decoder = Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)]


@given(FRAMES, st.lists(st.integers(0, 400)))
def test_any_chunking_gives_the_same_frames(frames: list[Frame], cuts: list[int]) -> None:
    raw = COMMENT.join(map(encode, frames))
    bounds = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    assert decode([raw[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]) == frames
    assert decode([raw[at : at + 1] for at in range(len(raw))]) == frames


def test_line_separators_of_text_do_not_cut_an_event() -> None:
    frame = Frame('{"a":"x\u2028y\u0085z\x0b\x0c\x1c"}'.encode(), "7")
    assert decode([encode(frame)]) == [frame]


def test_form_on_the_wire() -> None:
    assert encode(Frame(b"{}", "7")) == b"id: 7\ndata: {}\n\n"
    assert encode(Frame(b"{}")) == b"data: {}\n\n"


def test_other_fields_comments_and_carriage_returns_are_passed_over() -> None:
    raw = b": hello\r\nevent: x\r\nretry: 5\r\ndata:a\r\ndata: b\r\nid: 3\r\n\r\nid: 4\n\ndata\n\n"
    assert decode([raw]) == [Frame(b"a\nb", "3"), Frame(b"")]


def test_unfinished_event_waits() -> None:
    assert decode([b"data: {}\n"]) == []


def test_id_of_an_event_is_not_that_of_the_next() -> None:
    assert decode([b"id: 1\ndata: a\n\ndata: b\n\n"]) == [Frame(b"a", "1"), Frame(b"b")]


@given(st.lists(st.binary()))
def test_no_bytes_raise(chunks: list[bytes]) -> None:
    assert decode(chunks) == decode([b"".join(chunks)])
