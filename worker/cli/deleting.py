"""`claude-mem delete`: single records taken out of the memory for good."""

import argparse
import enum
import sys
from collections.abc import Mapping, Sequence

from worker.cli import doomed, exits
from worker.cli.connection import chosen, client
from worker.cli.doomed import Doomed, Key
from worker.cli.keys import each_of
from worker.cli.printing import HelpLines, failed, note, plain, say, say_json
from worker.contract.errors import MemError, NotFound
from worker.contract.quick import QuickClient

_KEYS = """keys:
  118, S14, P40  a record: observation, session summary, prompt
  T9             what an agent did with a tool; what was learned of it stays
  C3             what a session's own row says, its first prompt and its title; its records stay
"""


class _Fate(enum.Enum):
    DELETED = enum.auto()
    MISSING = enum.auto()
    LEFT = enum.auto()
    """As far as is known: whoever got no answer does not know more."""


def main(argv: Sequence[str]) -> int:
    """Run `delete`; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="claude-mem delete",
        description="Take single records out of the memory for good. They are shown first, and deleted on your word.",
        epilog=f"{_KEYS}\n{exits.TOLD}",
        formatter_class=HelpLines,
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", metavar="KEY", help=doomed.FORMS)
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    parser.add_argument("--json", action="store_true", help="print what was deleted as JSON")
    parser.add_argument("--demo", action="store_true", help="from the demo memory")
    args = parser.parse_intermixed_args(argv[1:])
    keys: tuple[Key, ...] = each_of(parser, args.words, doomed.parse, doomed.FORMS)
    if not args.yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        note("nothing was deleted, because nobody can be asked here; --yes deletes without asking")
        return exits.USAGE
    try:
        return _run(client(chosen(demo=args.demo)), keys, yes=args.yes, as_json=args.json)
    except MemError as error:
        return failed(error)


def _run(worker: QuickClient, keys: Sequence[Key], *, yes: bool, as_json: bool) -> int:
    there = doomed.found(worker, keys)
    if there and not (yes and as_json):
        _put("\n".join(one.line for one in there.values()), aside=as_json)
    for key in keys:
        if key not in there:
            note(f"there is no {key}")
    fates = {key: _Fate.LEFT if key in there else _Fate.MISSING for key in keys}
    try:
        if there and (yes or _may_go([*there], aside=as_json)):
            for key in there:
                fates[key] = _deleted(worker, key)
        elif there:
            note("nothing was deleted")
    finally:  # also when the worker went away, or somebody had enough, in the middle of it
        _tell(there, fates, as_json=as_json)
    return exits.FOUND if len(there) == len(keys) and _Fate.LEFT not in fates.values() else exits.NOTHING


def _may_go(keys: Sequence[Key], *, aside: bool) -> bool:
    _put(f"Delete {doomed.counted(keys)} for good? [y/N] ", aside=aside, end="")
    answer = sys.stdin.buffer.readline()  # as bytes: what is no text is no yes
    if not answer.endswith(b"\n"):
        _put("", aside=aside)
    return answer.strip().lower() in (b"y", b"yes")


def _deleted(worker: QuickClient, key: Key) -> _Fate:
    try:
        worker.send(doomed.delete(key))
    except NotFound:
        if doomed.found(worker, [key]):
            note(f"{key} came from another device, and only that one can delete it")
            return _Fate.LEFT
        note(f"{key} was gone already")
        return _Fate.MISSING
    except MemError:
        note(f"stopped at {key}")
        raise
    return _Fate.DELETED


def _tell(there: Mapping[Key, Doomed], fates: Mapping[Key, _Fate], *, as_json: bool) -> None:
    deleted = [key for key, fate in fates.items() if fate is _Fate.DELETED]
    if as_json:
        say_json(
            {
                "deleted": [_row(key, there[key]) for key in deleted],
                "missing": [str(key) for key, fate in fates.items() if fate is _Fate.MISSING],
                "left": [str(key) for key, fate in fates.items() if fate is _Fate.LEFT],
            }
        )
    elif deleted:
        say(f"deleted: {', '.join(str(key) for key in deleted)}")


def _row(key: Key, one: Doomed) -> dict[str, object]:
    about = {"title": one.title, "project": one.project, "created_at_epoch": one.created_at_epoch}
    return {"key": str(key), "kind": key.kind, **about}


def _put(text: str, *, aside: bool, end: str = "\n") -> None:
    """Print beside the output, which is JSON then, or as the output."""
    print(plain(text), end=end, file=sys.stderr if aside else sys.stdout, flush=True)
