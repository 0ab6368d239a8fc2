"""Every endpoint once: its path, and a function that returns the call as a value.

A ``Call`` knows nothing of how it travels: ``WorkerClient`` sends it from async programs, ``QuickClient`` from short
ones. Routes are registered under the same path constants.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

import msgspec

from worker.contract.capture import Accepted, Begun, PromptSubmitted, SessionEnded, ToolUsed, TurnEnded
from worker.contract.corpus import (
    CorpusAnswer,
    CorpusDeleted,
    CorpusInfo,
    CorpusList,
    CorpusOrder,
    CorpusQuestion,
    Primed,
    checked_name,
)
from worker.contract.costs import CostQuery, Costs
from worker.contract.curation import Alias, Aliases, Deleted, Merge, Merged, Save, Saved
from worker.contract.index import IndexFaults, IndexOrder, IndexStatus
from worker.contract.lanes import LaneQuery, Lanes, SessionBegin
from worker.contract.overview import Overview
from worker.contract.present import Text
from worker.contract.recalls import ObservationRead, PromptRead, Recalls, SummaryRead
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import (
    MOST_CHARS,
    BatchQuery,
    Facets,
    SearchPage,
    SearchQuery,
    SearchRows,
    Strip,
    Timeline,
    TimelineQuery,
)
from worker.contract.sessions import SessionPage, SessionQuery, SessionRecords
from worker.contract.status import Health, Projects, Readiness, Stats, Version
from worker.contract.tool_uses import ToolUse, ToolUseQuery, ToolUses
from worker.contract.transfer import BEFORE_ALL, ExportPage, ExportQuery, ImportBatch, ImportResult
from worker.contract.upkeep import Doctor, Done, Logs, ProcessingStatus, Restarting, SettingsSaved
from worker.contract.when import iso_utc

T = TypeVar("T")

SEARCH = "/api/search"
SEARCH_OBSERVATIONS = "/api/search/observations"
SEARCH_BY_FILE = "/api/search/by-file"
FACETS = "/api/facets"
TIMELINE = "/api/timeline"
TIMELINE_BY_QUERY = "/api/timeline/by-query"
BATCH = "/api/observations/batch"
OBSERVATIONS_BY_FILE = "/api/observations/by-file"
SESSIONS_BATCH = "/api/sdk-sessions/batch"
TOOL_USES = "/api/tool-uses"
TOOL_USES_BATCH = "/api/tool-uses/batch"
TOOL_USE = "/api/tool-uses/{id}"
OBSERVATIONS = "/api/observations"
SUMMARIES = "/api/summaries"
PROMPTS = "/api/prompts"
OBSERVATION = "/api/observation/{id}"
SUMMARY = "/api/session/{id}"
SUMMARY_ROW = "/api/summary/{id}"
PROMPT = "/api/prompt/{id}"
RECALLS = "/api/recalls"
SESSIONS = "/api/sessions"
SESSION = "/api/sessions/{session}"
SESSION_TEXTS = "/api/sessions/{id}/texts"
LANES = "/api/lanes"
LANES_NEXT = "/api/lanes/next"
SESSION_INIT = "/api/sessions/init"
SESSION_TOOL = "/api/sessions/observations"
SESSION_SUMMARIZE = "/api/sessions/summarize"
SESSION_END = "/api/sessions/session-end"
CONTEXT_INJECT = "/api/context/inject"
CONTEXT_PREVIEW = "/api/context/preview"
CONTEXT_RECENT = "/api/context/recent"
CONTEXT_SEMANTIC = "/api/context/semantic"
CONTEXT_ROWS = "/api/context/rows"
CONTEXT_PIN = "/api/context/pin"
CONTEXT_MUTE = "/api/context/mute"
COSTS = "/api/costs"
CORPORA = "/api/corpus"
CORPUS = "/api/corpus/{name}"
CORPUS_REBUILD = "/api/corpus/{name}/rebuild"
CORPUS_PRIME = "/api/corpus/{name}/prime"
CORPUS_REPRIME = "/api/corpus/{name}/reprime"
CORPUS_QUERY = "/api/corpus/{name}/query"
PROJECTS = "/api/projects"
PROJECTS_MERGE = "/api/projects/merge"
PROJECTS_ALIASES = "/api/projects/aliases"
STATS = "/api/stats"
OVERVIEW = "/api/overview"
HEALTH = "/api/health"
READINESS = "/api/readiness"
VERSION = "/api/version"
IMPORT = "/api/import"
EXPORT = "/api/export"
SAVE = "/api/memory/save"
SETTINGS = "/api/settings"
DEPENDENCIES = "/api/settings/dependency-health"
PROCESSING = "/api/processing-status"
CHROMA = "/api/chroma/status"
INDEX_STATUS = "/api/index/status"
INDEX_VERIFY = "/api/index/verify"
INDEX_REPAIR = "/api/index/repair"
INDEX_REBUILD = "/api/index/rebuild"
INDEX_PAUSE = "/api/index/pause"
INDEX_RESUME = "/api/index/resume"
SYNC = "/api/sync/status"
MCP = "/api/mcp/status"
MCP_TOGGLE = "/api/mcp/toggle"
INSTRUCTIONS = "/api/instructions"
LOGS = "/api/logs"
LOGS_CLEAR = "/api/logs/clear"
SHUTDOWN = "/api/admin/shutdown"
RESTART = "/api/admin/restart"
DOCTOR = "/api/admin/doctor"
STREAM = "/stream"
VIEWER = "/"
VIEWER_INDEX = "/index.html"
VIEWER_TV = "/tv"
VIEWER_TV_FILE = "/tv.html"
VIEWERS = frozenset((VIEWER, VIEWER_INDEX, VIEWER_TV, VIEWER_TV_FILE))
"""The viewer, also where the original has its pages."""
PLAIN_HEALTH = "/health"
ALIVE = "/healthz"
OPENAPI = "/openapi.json"


_FEW_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and the type of its answer. params: in order, never None. body: JSON or nothing.

    patience_s: how long it may well take, where that is longer than a sender waits by itself. most_bytes: an answer
    that is longer is none of ours; small where nobody knows yet who answers.
    """

    method: str
    path: str
    answer: type[T]
    params: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    patience_s: float = 0.0
    most_bytes: int = 256 * 2**20

    def decode(self, body: bytes) -> T:
        """The answer from the bytes of a success; of an answer that is text, the text. Errors: ``MsgspecError``."""
        if self.answer is str:
            return cast("T", body.decode("utf-8", "replace"))
        return msgspec.json.decode(body, type=self.answer)


def _params(**values: object) -> tuple[tuple[str, str], ...]:
    """Query parameters: None and empty ones left out, lists as comma text, the original's names."""
    return tuple(
        (name, _text(value)) for name, value in values.items() if value is not False and value not in (None, "", ())
    )


def _text(value: object) -> str:
    if value is True:
        return "true"
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return str(value)


def _search(query: SearchQuery, form: str | None) -> tuple[tuple[str, str], ...]:
    return _params(
        # One more than is read, so that the answer tells of the rest.
        query=query.text[: MOST_CHARS + 1],
        format=form,
        kind=query.kinds,
        obs_type=query.types,
        concepts=query.concepts,
        files=query.files,
        project=query.project,
        session=query.session,
        platformSource=query.platform_source,
        dateStart=_moment(query.since_epoch_ms),
        dateEnd=_moment(query.until_epoch_ms),
        orderBy=None if query.order == "relevance" else query.order,
        limit=query.limit,
        offset=query.offset or None,
        typing=query.typing,
        mode=query.mode,
    )


def _moment(epoch_ms: int | None) -> str | None:
    """With 13 digits, by which a worker tells milliseconds from a date; before 1970 and after 2286 as a date."""
    if epoch_ms is None:
        return None
    return f"{epoch_ms:013}" if 0 <= epoch_ms < 10**13 else iso_utc(epoch_ms)


def search(query: SearchQuery) -> Call[SearchPage]:
    """The index: entries with score and snippet, no rows."""
    return Call("GET", SEARCH, SearchPage, _search(query, "hits"))


def search_rows(query: SearchQuery) -> Call[SearchRows]:
    """The index and the full rows of its hits."""
    return Call("GET", SEARCH, SearchRows, _search(query, "json"))


def search_text(query: SearchQuery) -> Call[Text]:
    """The index as a table for an agent."""
    return Call("GET", SEARCH, Text, _search(query, None))


def facets(
    query: SearchQuery, *, buckets: int = 120, concepts: bool = False, strip: Strip | None = None
) -> Call[Facets]:
    """What the filtered set is made of; ``limit`` and ``offset`` play no part, nor does ``buckets`` in a strip.

    concepts: count them too, which takes longer than all the rest. strip: of the histogram just this part; everything
    else is still of the whole set. Errors: ``Invalid`` for a strip of more than 2,000 buckets.
    """
    asked = [one for one in _search(query, None) if one[0] not in ("limit", "offset")]
    if strip is None:
        asked += _params(buckets=buckets)
    else:
        start, end = _moment(strip.start_epoch_ms), _moment(strip.end_epoch_ms)
        asked += _params(bucketMs=strip.bucket_ms, stripStart=start, stripEnd=end)
    return Call("GET", FACETS, Facets, (*asked, *_params(withConcepts=concepts)))


def _timeline(query: TimelineQuery, form: str | None) -> tuple[tuple[str, str], ...]:
    return (
        *_params(
            anchor=query.anchor,
            query=query.query[: MOST_CHARS + 1],
            format=form,
            project=query.project,
            session=query.session,
            platformSource=query.platform_source,
        ),
        ("depth_before", str(query.depth_before)),
        ("depth_after", str(query.depth_after)),
    )


def timeline(query: TimelineQuery) -> Call[Timeline]:
    """The entries around an anchor. Errors: ``NotFound`` when there is no such record."""
    return Call("GET", TIMELINE, Timeline, _timeline(query, "json"))


def timeline_text(query: TimelineQuery) -> Call[Text]:
    """The same as text for an agent; what cannot be found is said in the text."""
    return Call("GET", TIMELINE, Text, _timeline(query, None))


def batch(query: BatchQuery) -> Call[list[dict[str, Any]]]:
    """Observations in full, as rows of plain JSON (a lean row has fewer keys)."""
    body: dict[str, Any] = {"ids": query.ids, "orderBy": query.order}
    body |= {"limit": query.limit} if query.limit is not None else {}
    body |= {"project": query.project} if query.project else {}
    body |= {"platformSource": query.platform_source} if query.platform_source else {}
    body |= {"lean": True} if query.lean else {}
    return Call("POST", BATCH, list[dict[str, Any]], body=msgspec.json.encode(body))


def observation(record_id: int) -> Call[ObservationRead]:
    """One observation. Errors: ``NotFound``."""
    return Call("GET", OBSERVATION.format(id=record_id), ObservationRead, _params(recalled=True))


def summary(record_id: int) -> Call[SummaryRead]:
    """One session summary. Errors: ``NotFound``."""
    return Call("GET", SUMMARY.format(id=record_id), SummaryRead, _params(recalled=True))


def prompt(record_id: int) -> Call[PromptRead]:
    """One user prompt. Errors: ``NotFound``."""
    return Call("GET", PROMPT.format(id=record_id), PromptRead, _params(recalled=True))


def record(key: RecordKey) -> Call[ObservationRead] | Call[SummaryRead] | Call[PromptRead]:
    """The record with this key. Errors: ``NotFound``."""
    match key.kind:
        case RecordKind.OBSERVATION:
            return observation(key.id)
        case RecordKind.SUMMARY:
            return summary(key.id)
        case RecordKind.PROMPT:
            return prompt(key.id)


def recalls(keys: Iterable[RecordKey]) -> Call[Recalls]:
    """How often records were given back, for at most a hundred of them; those that never were are left out."""
    return Call("GET", RECALLS, Recalls, _params(keys=tuple(keys)))


def sessions(query: SessionQuery) -> Call[SessionPage]:
    """A page of sessions with what they came to."""
    params = _params(
        project=query.project,
        platformSource=query.platform_source,
        dateStart=_moment(query.since_epoch_ms),
        dateEnd=_moment(query.until_epoch_ms),
        asOf=_moment(query.as_of_epoch_ms),
        limit=query.limit,
        offset=query.offset or None,
    )
    return Call("GET", SESSIONS, SessionPage, params)


def session(
    name: int | str, *, limit: int = 1000, offset: int = 0, as_of_epoch_ms: int | None = None
) -> Call[SessionRecords]:
    """A session and its records, oldest first; as it was at a moment. name: of its row, or either of its ids.

    Errors: ``NotFound``, also where it had not begun by then.
    """
    path = SESSION.format(session=quote(str(name), safe=""))
    params = _params(limit=limit, offset=offset or None, asOf=_moment(as_of_epoch_ms))
    return Call("GET", path, SessionRecords, params)


def lanes(query: LaneQuery) -> Call[Lanes]:
    """The sessions around a moment, side by side."""
    widths = _params(bucketMs=query.bucket_ms, buckets=query.buckets, lanes=query.lanes)
    return Call("GET", LANES, Lanes, (*_lane_scope(query), *widths))


def next_session(query: LaneQuery, *, later: bool) -> Call[SessionBegin]:
    """Where the session after the moment begins, or the one before it; widths play no part."""
    return Call("GET", LANES_NEXT, SessionBegin, (*_lane_scope(query), *_params(later=later)))


def _lane_scope(query: LaneQuery) -> tuple[tuple[str, str], ...]:
    return _params(
        around=_moment(query.around_epoch_ms),
        project=query.project,
        session=query.session,
        platformSource=query.platform_source,
        dateEnd=_moment(query.until_epoch_ms),
    )


def costs(query: CostQuery) -> Call[Costs]:
    """What memory costs and gives back."""
    params = _params(
        project=query.project,
        session=query.session,
        platformSource=query.platform_source,
        dateStart=_moment(query.since_epoch_ms),
        dateEnd=_moment(query.until_epoch_ms),
    )
    return Call("GET", COSTS, Costs, (*params, ("sessions", str(query.sessions)), ("days", str(query.days))))


_READING_S = 600.0
"""A model reads a corpus, perhaps after it answered others."""


def build_corpus(order: CorpusOrder) -> Call[CorpusInfo]:
    """Build a corpus. Errors: ``Invalid`` naming the key."""
    given = {name: value for name, value in msgspec.structs.asdict(order).items() if value is not None}
    return Call("POST", CORPORA, CorpusInfo, body=msgspec.json.encode(given), patience_s=_READING_S)


def corpora() -> Call[CorpusList]:
    """All corpora, by name."""
    return Call("GET", CORPORA, CorpusList, _params(format="json"))


def corpora_text() -> Call[Text]:
    """The same as text for an agent."""
    return Call("GET", CORPORA, Text)


def corpus(name: str) -> Call[CorpusInfo]:
    """One of them, without its records. Errors: ``NotFound``."""
    return Call("GET", _of(CORPUS, name), CorpusInfo)


def delete_corpus(name: str) -> Call[CorpusDeleted]:
    """Take it away; its records stay in memory. Errors: ``NotFound``."""
    return Call("DELETE", _of(CORPUS, name), CorpusDeleted)


def rebuild_corpus(name: str) -> Call[CorpusInfo]:
    """Build it anew from its own filter. Errors: ``NotFound``."""
    return Call("POST", _of(CORPUS_REBUILD, name), CorpusInfo, body=b"{}", patience_s=_READING_S)


def prime_corpus(name: str) -> Call[Primed]:
    """Have a model read it. Errors: ``NotFound``; ``Conflict`` if it cannot be read."""
    return Call("POST", _of(CORPUS_PRIME, name), Primed, body=b"{}", patience_s=_READING_S)


def reprime_corpus(name: str) -> Call[Primed]:
    """The same in a new session. Errors: ``NotFound``; ``Conflict`` if it cannot be read."""
    return Call("POST", _of(CORPUS_REPRIME, name), Primed, body=b"{}", patience_s=_READING_S)


def query_corpus(name: str, question: str) -> Call[CorpusAnswer]:
    """Ask it. Errors: ``NotFound``; ``Conflict`` if it was never primed."""
    body = msgspec.json.encode(CorpusQuestion(question=question))
    return Call("POST", _of(CORPUS_QUERY, name), CorpusAnswer, body=body, patience_s=_READING_S)


def _of(path: str, name: str) -> str:
    """Errors: ``Invalid`` for a name that no corpus has, and that might lead to another path."""
    return path.format(name=checked_name(name.strip()))


def projects() -> Call[Projects]:
    """The catalogue of projects."""
    return Call("GET", PROJECTS, Projects)


def merge_projects(order: Merge) -> Call[Merged]:
    """Have what is filed under a project be found under another too. Errors: ``NotFound`` when nothing is."""
    return Call("POST", PROJECTS_MERGE, Merged, body=msgspec.json.encode(order))


def alias_project(order: Alias) -> Call[Aliases]:
    """File what comes from a project under another. Errors: ``Conflict`` where one alias would lead to the next."""
    return Call("POST", PROJECTS_ALIASES, Aliases, body=msgspec.json.encode(order))


def aliases() -> Call[Aliases]:
    """The projects that are filed under others."""
    return Call("GET", PROJECTS_ALIASES, Aliases)


def stats() -> Call[Stats]:
    """Sizes and counts."""
    return Call("GET", STATS, Stats)


def overview() -> Call[Overview]:
    """How everything is."""
    return Call("GET", OVERVIEW, Overview)


def health() -> Call[Health]:
    """Who answers, and how it is."""
    return Call("GET", HEALTH, Health, most_bytes=_FEW_BYTES)


def readiness() -> Call[Readiness]:
    """Whether requests are served. Errors: ``Unavailable`` before."""
    return Call("GET", READINESS, Readiness, most_bytes=_FEW_BYTES)


def version() -> Call[Version]:
    """The worker's version."""
    return Call("GET", VERSION, Version, most_bytes=_FEW_BYTES)


def import_batch(batch: ImportBatch, *, dry_run: bool = False, mend: bool = False) -> Call[ImportResult]:
    """Rows from elsewhere, all of them or (on an error) none.

    dry_run: only tell what would be new. mend: replace values that cannot be stored, and tell which.
    """
    return Call("POST", IMPORT, ImportResult, _params(dryRun=dry_run, mend=mend), msgspec.json.encode(batch))


def export(query: ExportQuery) -> Call[ExportPage]:
    """A page of rows as they are in the table."""
    params = _params(
        kind=query.kind,
        after=None if query.after == BEFORE_ALL else query.after,
        upto=query.upto,
        limit=query.limit,
        project=query.project,
        dateStart=_moment(query.since_epoch_ms),
        dateEnd=_moment(query.until_epoch_ms),
    )
    return Call("GET", EXPORT, ExportPage, params)


def save(memory: Save) -> Call[Saved]:
    """Something worth remembering, said on purpose."""
    return Call("POST", SAVE, Saved, body=msgspec.json.encode(memory))


def begin(event: PromptSubmitted) -> Call[Begun]:
    """The person asked something."""
    return Call("POST", SESSION_INIT, Begun, body=msgspec.json.encode(event))


def tool_used(event: ToolUsed) -> Call[Accepted]:
    """The agent used a tool."""
    return Call("POST", SESSION_TOOL, Accepted, body=msgspec.json.encode(event))


def turn_ended(event: TurnEnded) -> Call[Accepted]:
    """The agent has answered."""
    return Call("POST", SESSION_SUMMARIZE, Accepted, body=msgspec.json.encode(event))


def session_ended(event: SessionEnded) -> Call[Accepted]:
    """The session is over."""
    return Call("POST", SESSION_END, Accepted, body=msgspec.json.encode(event))


def delete(key: RecordKey) -> Call[Deleted]:
    """Take a record away for good. Errors: ``NotFound``, also for one that came from another device."""
    match key.kind:
        case RecordKind.OBSERVATION:
            return Call("DELETE", OBSERVATION.format(id=key.id), Deleted)
        case RecordKind.SUMMARY:
            return Call("DELETE", SUMMARY_ROW.format(id=key.id), Deleted)
        case RecordKind.PROMPT:
            return Call("DELETE", PROMPT.format(id=key.id), Deleted)


def delete_tool_use(row_id: int) -> Call[Deleted]:
    """Take away for good what an agent did with a tool. Errors: ``NotFound``."""
    return Call("DELETE", TOOL_USE.format(id=row_id), Deleted)


def delete_session_texts(row_id: int) -> Call[Deleted]:
    """Take the texts of a session's own row away for good; its records stay. Errors: ``NotFound``."""
    return Call("DELETE", SESSION_TEXTS.format(id=row_id), Deleted)


def tool_uses(query: ToolUseQuery) -> Call[ToolUses]:
    """What agents did with their tools, without what went in and came out."""
    params = _params(
        project=query.project,
        session=query.content_session_id,
        memorySessionId=query.memory_session_id,
        tool_name=query.tool_names,
        agentId=query.agent_id,
        platformSource=query.platform_source,
        dateStart=_moment(query.since_epoch_ms),
        dateEnd=_moment(query.until_epoch_ms),
        orderBy=query.order,
        limit=query.limit,
        offset=query.offset or None,
    )
    return Call("GET", TOOL_USES, ToolUses, params)


def tool_use_rows(
    ids: tuple[int | str, ...], *, limit: int | None = None, project: str | None = None, session: str | None = None
) -> Call[list[ToolUse]]:
    """Tool uses in full, newest first; unknown ids are left out. session: the agent's own id of it."""
    narrower = {"limit": limit, "project": project, "contentSessionId": session}
    body = {"ids": ids} | {name: value for name, value in narrower.items() if value is not None}
    return Call("POST", TOOL_USES_BATCH, list[ToolUse], body=msgspec.json.encode(body))


def processing() -> Call[ProcessingStatus]:
    """What waits to become a memory."""
    return Call("GET", PROCESSING, ProcessingStatus)


def index_status() -> Call[IndexStatus]:
    """How much can be found by meaning."""
    return Call("GET", INDEX_STATUS, IndexStatus)


def index_verify() -> Call[IndexFaults]:
    """What is wrong with the index by meaning; nothing is changed. Errors: ``Conflict`` when it is switched off."""
    return Call("POST", INDEX_VERIFY, IndexFaults, body=b"{}")


def index_repair() -> Call[IndexFaults]:
    """What was wrong with it, and is being mended."""
    return Call("POST", INDEX_REPAIR, IndexFaults, body=b"{}")


def index_rebuild(order: IndexOrder) -> Call[IndexStatus]:
    """Begin it anew."""
    return Call("POST", INDEX_REBUILD, IndexStatus, body=msgspec.json.encode(order))


def index_pause() -> Call[IndexStatus]:
    """Embed nothing until resumed."""
    return Call("POST", INDEX_PAUSE, IndexStatus, body=b"{}")


def index_resume() -> Call[IndexStatus]:
    """Go on embedding."""
    return Call("POST", INDEX_RESUME, IndexStatus, body=b"{}")


def settings() -> Call[dict[str, Any]]:
    """Every setting with its value, secrets masked; keys that the worker does not know are among them."""
    return Call("GET", SETTINGS, dict[str, Any])


def change_settings(changes: Mapping[str, object]) -> Call[SettingsSaved]:
    """New values for some keys. Errors: ``Invalid`` naming the key; ``Conflict`` for a file that is no JSON."""
    return Call("POST", SETTINGS, SettingsSaved, body=msgspec.json.encode(dict(changes)))


def logs(lines: int = 1000) -> Call[Logs]:
    """The latest lines of the worker's log."""
    return Call("GET", LOGS, Logs, _params(lines=lines))


def doctor() -> Call[Doctor]:
    """What was looked at, and what was found."""
    return Call("GET", DOCTOR, Doctor)


def restart() -> Call[Restarting]:
    """Ask the worker to stop and start anew, where the settings say by now."""
    return Call("POST", RESTART, Restarting, body=b"{}")


def shutdown() -> Call[Done]:
    """Ask the worker to finish what it does and stop."""
    return Call("POST", SHUTDOWN, Done, body=b"{}")


def comma(values: Iterable[str]) -> tuple[str, ...]:
    """Values given as lists, as comma text, or both mixed, to one tuple without blanks."""
    return tuple(part for value in values for part in (piece.strip() for piece in value.split(",")) if part)
