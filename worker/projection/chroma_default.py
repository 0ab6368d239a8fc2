"""The model that Chroma takes when it is told nothing: all-MiniLM-L6-v2 in float32, fetched by Chroma on first use.

Chroma fetches and checks the files; they are run like those of the default model, because Chroma's own run pads every
text to 256 tokens. Only for who asks for it by name: the default needs no network and ranks as well.
"""

import tarfile
from pathlib import Path

import httpx
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

from worker.contract.errors import Unavailable
from worker.contract.settings import Embedding
from worker.projection.minilm import FAULTS, MiniLM

NAME = "all-MiniLM-L6-v2"

_ADVICE = "set CLAUDE_MEM_EMBEDDING_MODEL to minilm, which needs no network"


def load(wanted: Embedding) -> MiniLM:
    """The model, fetched if it is not in Chroma's cache yet. Errors: ``Unavailable`` with advice."""
    folder = Path(ONNXMiniLM_L6_V2.DOWNLOAD_PATH, ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME)
    try:
        ONNXMiniLM_L6_V2()(["fetch"])
        return MiniLM(NAME, folder / "model.onnx", folder / "tokenizer.json")
    except (OSError, EOFError, ValueError, tarfile.TarError, httpx.HTTPError) as error:
        raise Unavailable(f"Chroma cannot fetch its model ({type(error).__name__}); {_ADVICE}") from error
    except FAULTS as error:
        raise Unavailable(f"the model that Chroma fetched is broken; remove {folder.parent}, or {_ADVICE}") from error
