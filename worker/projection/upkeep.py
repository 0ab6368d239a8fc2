"""What may be asked of the projector from outside, without what it is made of."""

from typing import Protocol

from worker.contract.index import IndexFaults, IndexStatus


class IndexUpkeep(Protocol):
    """Keeps the index by meaning in step with the records."""

    async def status(self) -> IndexStatus:
        """How far it is."""
        ...

    async def verify(self) -> IndexFaults:
        """What is wrong with it; nothing is changed."""
        ...

    async def repair(self) -> IndexFaults:
        """What was wrong with it, and is being mended."""
        ...

    async def rebuild(self, *, reembed: bool = False) -> None:
        """Begin it anew: Chroma's folder from the vectors that are kept; with ``reembed`` these too."""
        ...

    async def pause(self) -> None:
        """Embed nothing until resumed, also after a restart."""
        ...

    async def resume(self) -> None:
        """Go on."""
        ...

    def busy(self) -> None:
        """A question is being answered: what is written meanwhile makes way for a moment; from any thread."""
        ...
