"""Records that a person names by their keys: `118`, `#118`, `S14`, `P40`."""

import argparse
from collections.abc import Callable, Iterable
from typing import TypeVar

from worker.contract import calls
from worker.contract.errors import NotFound
from worker.contract.quick import QuickClient
from worker.contract.records import Record, RecordKey, RecordKind, parse_key

FORMS = "118, #118, S14, P40"

K = TypeVar("K")


def keys_of(parser: argparse.ArgumentParser, words: Iterable[str]) -> tuple[RecordKey, ...]:
    """The keys in words that may have commas, each once, in their order; the parser refuses anything else, and none."""
    return each_of(parser, words, parse_key, FORMS)


def each_of(
    parser: argparse.ArgumentParser, words: Iterable[str], parse: Callable[[str], K | None], forms: str
) -> tuple[K, ...]:
    """The same of keys of any sort. forms: what they look like."""
    if not (asked := calls.comma(words)):
        parser.error(f"give at least one KEY: {forms.replace(' #118,', '')}")
    keys: dict[K, None] = {}
    for word in asked:
        if (key := parse(word)) is None:
            parser.error(f"argument KEY: must be {' or '.join(forms.rsplit(', ', 1))}, not {word!r}")
        keys[key] = None
    return tuple(keys)


def records_of(worker: QuickClient, keys: Iterable[RecordKey]) -> dict[RecordKey, Record]:
    """The records that are there, in the order of their keys. Errors: as ``QuickClient.send``."""
    found: dict[RecordKey, Record] = {}
    for key in keys:
        try:
            found[key] = _fetched(worker, key)
        except NotFound:
            continue
    return found


def _fetched(worker: QuickClient, key: RecordKey) -> Record:
    match key.kind:
        case RecordKind.OBSERVATION:
            return worker.send(calls.observation(key.id))
        case RecordKind.SUMMARY:
            return worker.send(calls.summary(key.id))
        case RecordKind.PROMPT:
            return worker.send(calls.prompt(key.id))
