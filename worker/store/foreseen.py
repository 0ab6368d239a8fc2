"""Pure: the search words of rows that are still to be imported, for whoever has a processor to spare for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worker.contract.errors import Invalid
from worker.contract.records import Observation, Prompt, Record, Summary
from worker.contract.transfer import RowKind
from worker.store import analysis, incoming
from worker.store.incoming import Reader
from worker.store.rows import document
from worker.store.search_index import Line, texts

_RECORDS: dict[RowKind, tuple[Reader, type[Record]]] = {
    RowKind.OBSERVATION: (incoming.observation, Observation),
    RowKind.SUMMARY: (incoming.summary, Summary),
    RowKind.PROMPT: (incoming.prompt, Prompt),
}


def lines(kind: RowKind, given: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What ``analysis.line`` gives for each text that will be indexed of the rows."""
    return {text: analysis.line(text) for record in _records(kind, given) for text in texts(document(record)) if text}


def line(known: Mapping[str, str]) -> Line:
    """The same, a text at a time, for any text at all."""
    return lambda text: known[text] if text in known else analysis.line(text)


def _records(kind: RowKind, given: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    if kind not in _RECORDS:
        return
    read, record = _RECORDS[kind]
    for raw in given:
        try:
            row = read(raw, "", [])
        except Invalid:
            continue  # whoever imports it says so
        yield record(id=0, **{name: row[name] for name in record.__struct_fields__ if name in row})
