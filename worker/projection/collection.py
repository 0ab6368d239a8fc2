"""Pure: what a collection of vectors is called, and where it may be."""

import hashlib
import re
from dataclasses import dataclass, field

FORMAT = 1
"""Of a collection: its ids, metadata and space. Another format is another collection."""

PREFIX = "claude-mem-"


@dataclass(frozen=True, slots=True)
class Shape:
    """Which vectors a collection holds. model: an embedder's name.

    of: whose records, where several stores share a server; empty in a folder of our own.
    """

    model: str
    dimension: int
    of: str = ""

    @property
    def name(self) -> str:
        """Of the collection, and of its folder: another for each model, dimension, format and store.

        Letters, digits, dots and dashes, 512 at most: Chroma's rule.
        """
        exact = f"{self.model}\n{self.dimension}\n{FORMAT}\n{self.of}".encode("utf-8", "surrogatepass")
        shown = re.sub(r"[^a-z0-9]+", "-", self.model.lower())[:40].strip("-") or "model"
        return f"{PREFIX}{shown}-{hashlib.sha256(exact).hexdigest()[:10]}"


@dataclass(frozen=True, slots=True)
class Server:
    """A Chroma server. token: sent both as a bearer and in Chroma's own header; never shown. Empty: none."""

    host: str = "127.0.0.1"
    port: int = 8000
    tls: bool = False
    token: str = field(default="", repr=False)
    tenant: str = "default_tenant"
    database: str = "default_database"

    @property
    def address(self) -> str:
        """For people."""
        return f"{self.host}:{self.port}"
