"""A model on a server that speaks OpenAI's ``/v1/embeddings``: Ollama, vLLM, a service on the net.

What a server answers is never repeated in an error: it may hold the key or somebody's words.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote

import httpx
import msgspec
import numpy as np

from worker.contract.clean import cleaned
from worker.contract.errors import Invalid, Unavailable
from worker.contract.settings import Embedding, is_loopback
from worker.projection.embed import Kind, Matrix
from worker.projection.excerpt import excerpt

MAX_TOKENS = 512
"""What the smaller of the usual models take; some servers refuse a longer text instead of cutting it."""

_TEXTS_A_CALL = 32
_TRIES = 3
_PAUSE_S = 0.5
"""Before the second try, doubled before the third; a server may ask for more."""
_MOST_PAUSE_S = 5.0
_MOST_BYTES = 32 * 2**20
_PASSING = frozenset({429, 500, 502, 503, 504, 529})
_AGAIN_S = 30.0
_URL, _MODEL, _KEY = (f"CLAUDE_MEM_EMBEDDING_{name}" for name in ("URL", "REMOTE_MODEL", "API_KEY"))


class _Row(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Row]


class RemoteEmbedder:
    """The client. It asks the server how many dimensions its vectors have when that is first needed."""

    max_tokens = MAX_TOKENS

    def __init__(
        self, url: str, model: str, api_key: str = "", *, timeout_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        """url: with or without ``/v1/embeddings``. timeout_s: for one call, with its tries and pauses.

        Errors: ``Invalid`` naming the setting at fault.
        """
        address = _address(url)
        if not model:
            raise Invalid(f"{_MODEL} must name the server's model", field=_MODEL)
        if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise Invalid(f"{_KEY} must be of visible ASCII characters, without blanks", field=_KEY)
        self.name = f"http:{model}"
        self._model = model
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._known_dimension = 0
        # What stands before the @ goes with the request and not into the address, which logs and errors show.
        self._address = address.copy_with(userinfo=b"")
        self._shown = str(self._address.copy_with(query=None))
        self._client = httpx.Client(
            auth=(unquote(address.username), unquote(address.password)) if address.userinfo and not api_key else None,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=timeout_s,
            trust_env=not is_loopback(address.host),  # a proxy does not reach this machine's own servers
        )

    @property
    def dimension(self) -> int:
        """Numbers in a vector; the first time it may ask the server. Errors: ``Unavailable``."""
        if not self._known_dimension:
            self._ask(["dimension"])
        return self._known_dimension

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A vector for each text, in their order. Errors: ``Unavailable`` with what to look at."""
        plain = [_cut(text) for text in texts]
        asked = [at for at, text in enumerate(plain) if text]
        parts = [asked[start : start + _TEXTS_A_CALL] for start in range(0, len(asked), _TEXTS_A_CALL)]
        answers = [self._ask([plain[at] for at in part]) for part in parts]
        found = np.zeros((len(texts), self.dimension), np.float32)
        for part, vectors in zip(parts, answers, strict=True):
            found[part] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return found

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str]) -> Matrix:
        until = time.monotonic() + self._timeout_s
        request = {"model": self._model, "input": texts, "encoding_format": "float"}
        for attempt in range(_TRIES):
            try:
                status, wanted_s, body = self._post(request, until)
            except httpx.TimeoutException as error:
                raise self._gone(f"did not answer within {self._timeout_s:g} s") from error
            except httpx.HTTPError as error:
                raise self._gone(f"cannot be reached ({type(error).__name__})") from error
            if status == 200:
                return self._vectors(body, len(texts))
            pause = min(max(_PAUSE_S * 2**attempt, wanted_s), _MOST_PAUSE_S)
            if status not in _PASSING or attempt + 1 == _TRIES or time.monotonic() + pause >= until:
                raise self._refused(status)
            self._sleep(pause)
        raise AssertionError("the last try ends the loop")

    def _post(self, request: dict[str, Any], until: float) -> tuple[int, float, bytes]:
        """Status, seconds that the server asks to wait, body."""
        body = bytearray()
        remaining_s = max(until - time.monotonic(), 0.001)
        with self._client.stream("POST", self._address, json=request, timeout=remaining_s) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise self._unusable(f"more than {_MOST_BYTES >> 20} MB")
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("slow", request=response.request)
            asked = response.headers.get("retry-after", "")
            return response.status_code, float(asked) if asked.isdecimal() else 0.0, bytes(body)

    def _vectors(self, body: bytes, count: int) -> Matrix:
        try:
            rows = msgspec.json.decode(body, type=_Answer).data
        except msgspec.MsgspecError as error:
            raise self._unusable("something else than a list of embeddings") from error
        if len(rows) != count:
            raise self._unusable(f"{len(rows)} vectors for {count} texts")
        if all(row.index is not None for row in rows):
            rows.sort(key=lambda row: row.index or 0)
            if [row.index for row in rows] != list(range(count)):
                raise self._unusable("vectors whose numbers are not those of the texts")
        sizes = {len(row.embedding) for row in rows}
        if len(sizes) != 1 or 0 in sizes:
            raise self._unusable(f"vectors of {' and '.join(map(str, sorted(sizes)))} numbers")
        vectors = np.array([row.embedding for row in rows], np.float32)
        if not np.isfinite(vectors).all():
            raise self._unusable("numbers that are none")
        self._known_dimension = self._known_dimension or vectors.shape[1]
        if vectors.shape[1] != self._known_dimension:
            raise self._unusable(f"vectors of {vectors.shape[1]} numbers after some of {self._known_dimension}")
        return vectors

    def _gone(self, told: str) -> Unavailable:
        return Unavailable(f"the embedding server {self._shown} {told}; see {_URL}", retry_after_s=_AGAIN_S)

    def _unusable(self, told: str) -> Unavailable:
        return Unavailable(f"the embedding server {self._shown} gave {told}; see {_URL} and {_MODEL}")

    def _refused(self, status: int) -> Unavailable:
        told = f"the embedding server {self._shown} answered {status}"
        match status:
            case 401 | 403:
                return Unavailable(f"{told}; see {_KEY}")
            case _ if status in _PASSING:
                return Unavailable(f"{told}, {_TRIES} times at most", retry_after_s=_AGAIN_S)
            case _:
                return Unavailable(f"{told}; see {_URL} and {_MODEL}")


def load(wanted: Embedding) -> RemoteEmbedder:
    """The client for the settings; the server is not asked yet. Errors: ``Invalid`` naming the setting."""
    return RemoteEmbedder(wanted.url, wanted.remote_model, wanted.api_key)


def _address(url: str) -> httpx.URL:
    told = f"{_URL} must be the address of a server, such as http://127.0.0.1:11434/v1"
    try:
        address = httpx.URL(url.strip())
    except httpx.InvalidURL:
        raise Invalid(told, field=_URL) from None  # the cause repeats the address, which may hold a password
    if address.scheme not in ("http", "https") or not address.host:
        raise Invalid(told, field=_URL)
    path = address.path.rstrip("/")
    if not path.endswith("/embeddings"):
        path += "/embeddings" if path.endswith("/v1") else "/v1/embeddings"
    return address.copy_with(path=path)


def _cut(text: str) -> str:
    """At most ``MAX_TOKENS`` of a text by a careful guess: three letters of ASCII a token, else each its own.

    Cleaned: what is asked for may hold what is private, and so may records of the original's.
    """
    begun = cleaned(excerpt(text, MAX_TOKENS * 3))
    spent = 0.0
    for at, char in enumerate(begun):
        spent += 1 / 3 if char < "\x80" else 1
        if spent > MAX_TOKENS:
            return begun[:at]
    return begun
