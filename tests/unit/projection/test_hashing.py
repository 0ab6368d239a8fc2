"""The model without weights: nearness by shared words, the same in every process."""

import subprocess
import sys

import numpy as np
import pytest

from worker.contract.settings import Embedding
from worker.projection.embed import Embedder
from worker.projection.hashing import load

MODEL: Embedder = load(Embedding())
STABLE = (
    "from worker.projection.hashing import Hashing\n"
    "print(Hashing().embed(['the token refresh of Session 12', '記憶を検索'], 'document').tobytes().hex())"
)


def near(one: str, other: str) -> float:
    vectors = MODEL.embed([one, other], "document")
    return float(vectors[0] @ vectors[1])


def test_form() -> None:
    vectors = MODEL.embed(["one thing", "", " \n", "another"], "query")
    assert (vectors.dtype.name, vectors.shape) == ("float32", (4, MODEL.dimension))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0, 1], abs=1e-5)
    assert MODEL.embed([], "query").shape == (0, MODEL.dimension)


@pytest.mark.parametrize(
    ("text", "nearer", "farther"),
    [
        ("the session token expired", "refresh of an expired token", "colours of the chart legend"),
        ("migrating databases", "database migration failed", "keyboard shortcuts for panes"),
        ("検索が遅い", "記憶の検索を速くする", "画面の色を変える"),
        ("🎉", "🎉 released", "released"),
        ("REFRESH", "refresh", "restart"),
    ],
)
def test_shared_words_are_near(text: str, nearer: str, farther: str) -> None:
    assert near(text, nearer) > near(text, farther) + 0.05


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "🎉", "٣٤", "한국어", "x" * 1_000_000, "word " * 100_000])
def test_any_text_has_a_vector(text: str) -> None:
    assert near(text, text) == pytest.approx(1, abs=1e-5)


def test_the_same_in_every_process() -> None:
    runs = {
        subprocess.run(
            [sys.executable, "-c", STABLE], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    mine = MODEL.embed(["the token refresh of Session 12", "記憶を検索"], "document")
    assert runs == {mine.tobytes().hex().encode() + b"\n"}


def test_a_known_vector() -> None:
    """A change here is another model: give it another name, or stored vectors are mixed with new ones."""
    (vector,) = MODEL.embed(["token refresh"], "document")
    assert MODEL.name == "hash-v1"
    assert {int(at): round(float(vector[at]), 3) for at in np.argsort(-abs(vector), kind="stable")[:2]} == {
        75: -0.527,
        225: -0.527,
    }
