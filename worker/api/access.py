"""Pure: who may do what with which token."""

import enum
import hmac
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from worker.api.peer import is_of_this_machine
from worker.contract import calls
from worker.contract.errors import Conflict, Forbidden, MemError, Unauthorized

TRUSTED = "claude_mem.trusted"
"""Stands in the scope of a request that carries the token which may do all."""
_OPEN = frozenset((calls.ALIVE, calls.HEALTH))
"""Told to programs of this machine without a token: a starter asks who is there before it says who it is."""
_READING = frozenset(("GET", "HEAD"))


class Rights(enum.Enum):
    """What a token allows."""

    NONE = "none"
    READ = "read"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Access:
    """token: may do all; read_token: may read. Empty: no such token. reading: POST paths that change nothing.

    frozen: nobody may change anything, whatever the token.
    """

    token: str = field(default="", repr=False)
    read_token: str = field(default="", repr=False)
    reading: frozenset[str] = frozenset()
    frozen: bool = False

    @property
    def wanted(self) -> bool:
        """Whether requests must carry a token."""
        return bool(self.token or self.read_token)

    def rights(self, headers: Headers) -> Rights:
        """What the token in a request allows."""
        if not self.wanted:
            return Rights.NONE
        given = _given(headers)
        # Both are compared, whatever the first says: how long it takes tells nothing.
        full, reader = _same(given, self.token), _same(given, self.read_token)
        return Rights.ALL if full else Rights.READ if reader else Rights.NONE

    def refusal(
        self, rights: Rights, method: str, path: str, headers: Headers, *, client: str | None, local: bool
    ) -> MemError | None:
        """Why a request is not let in; None lets it in. local: whether it names this machine as its host."""
        reads = method in _READING
        changes = not reads and not (method == "POST" and path in self.reading)
        if path in calls.VIEWERS and reads:
            return None  # the page is the same for everybody, and asks for the token itself
        if not self.wanted or rights is Rights.ALL:
            return Conflict("this worker only reads the file, and changes nothing") if self.frozen and changes else None
        if path in _OPEN and reads and local and is_of_this_machine(client, headers):
            return None
        if rights is Rights.NONE:
            return Unauthorized("this worker wants its token: set CLAUDE_MEM_API_TOKEN to it")
        return Forbidden("this token may only read") if changes else None


def _given(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode()) and bool(known)
