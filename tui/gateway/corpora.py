"""Questions about corpora, and what is done to them."""

from tui.gateway.line import Line
from tui.state import corpora
from tui.state.corpora import Deed, DeedEnded, Doing, Outcome
from tui.state.facts import Fact
from worker.contract import calls
from worker.contract.corpus import CorpusInfo, CorpusOrder
from worker.contract.errors import MemError


class Corpora:
    """Of one worker."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def listed(self, seq: int) -> Fact:
        """All of them."""
        try:
            return corpora.Listed(seq, (await self._line.send(calls.corpora())).corpora)
        except MemError as error:
            return corpora.ListFailed(seq, error.message)

    async def shown(self, name: str) -> Fact | None:
        """One in full; None where that cannot be told, as the list then does."""
        try:
            return corpora.Shown(await self._line.send(calls.corpus(name)))
        except MemError:
            return None

    async def built(self, job: int, order: CorpusOrder) -> DeedEnded:
        """A new one, or another in its place."""
        try:
            return _made(order.name, job, Deed.BUILD, await self._line.send(calls.build_corpus(order)))
        except MemError as error:
            return DeedEnded(order.name, job, Outcome(Deed.BUILD, failed=error.message))

    async def done(self, name: str, doing: Doing, *, anew: bool = False) -> DeedEnded:
        """A deed to one that is there. anew: it was read by a model before, and is read once more."""
        try:
            match doing.deed:
                case Deed.ASK:
                    answer = await self._line.send(calls.query_corpus(name, doing.text))
                    return DeedEnded(name, doing.job, Outcome(Deed.ASK, doing.text, answer))
                case Deed.PRIME:
                    call = calls.reprime_corpus(name) if anew else calls.prime_corpus(name)
                    primed = await self._line.send(call)
                    said = "; ".join(primed.notes) or "a model has read it, and can be asked now"
                    return DeedEnded(name, doing.job, Outcome(Deed.PRIME, said=said))
                case Deed.DELETE:
                    await self._line.send(calls.delete_corpus(name))
                    return DeedEnded(name, doing.job, Outcome(Deed.DELETE, said="its records stay in memory"))
                case _:
                    return _made(name, doing.job, doing.deed, await self._line.send(calls.rebuild_corpus(name)))
        except MemError as error:
            return DeedEnded(name, doing.job, Outcome(doing.deed, doing.text, failed=error.message))


def _made(name: str, job: int, deed: Deed, info: CorpusInfo) -> DeedEnded:
    count = info.stats.observation_count
    said = "; ".join((f"{count:,} record{'' if count == 1 else 's'}", *info.notes))
    return DeedEnded(name, job, Outcome(deed, said=said), info)
