"""A memory that answers as the worker does, in plain Python: for the fake client and the fake worker alike."""

import datetime as dt
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from tests.tui.surveys import Surveyed
from worker.contract import calls
from worker.contract.errors import NotFound
from worker.contract.lanes import Lane, LaneCell, Lanes, SessionBegin
from worker.contract.project_name import head
from worker.contract.query import parse
from worker.contract.records import (
    Observation,
    Prompt,
    Record,
    RecordKey,
    RecordKind,
    Summary,
    items,
    key_of,
    parse_key,
)
from worker.contract.search import Bucket, Count, Degraded, Entry, Facets, Hit, SearchPage, Snippet, Timeline
from worker.contract.status import PROGRAM, DatabaseStats, Health, Projects, Stats, WorkerStats
from worker.contract.tokens import estimate_tokens
from worker.contract.when import iso_utc, parse_range

NOW_MS = parse_range("2026-11-25T15:04:00+00:00")[0]  # type: ignore[index]
MINUTE_MS = 60_000
DAY_MS = 86_400_000
Params = dict[str, str]


def observation(record_id: int, title: str, *, at: int = NOW_MS, **over: object) -> Observation:
    """An observation with this title."""
    known: dict[str, object] = {
        "memory_session_id": "9f2c41d0-6b1e-4f7a-8a55-0c9d6f0a1b2c",
        "project": "farm-api",
        "type": "bugfix",
        "title": title,
        "narrative": f"About this: {title}.",
        "created_at": iso_utc(at),
        "created_at_epoch": at,
        "discovery_tokens": 1200,
    }
    return Observation(**{**known, "id": record_id, **over})  # type: ignore[arg-type]


def summary(record_id: int, request: str, *, at: int = NOW_MS, **over: object) -> Summary:
    """A session summary."""
    known: dict[str, object] = {
        "memory_session_id": "9f2c41d0-6b1e-4f7a-8a55-0c9d6f0a1b2c",
        "project": "farm-api",
        "request": request,
        "learned": "What was learned.",
        "completed": "What was done.",
        "created_at": iso_utc(at),
        "created_at_epoch": at,
    }
    return Summary(**{**known, "id": record_id, **over})  # type: ignore[arg-type]


def prompt(record_id: int, text: str, *, at: int = NOW_MS, **over: object) -> Prompt:
    """A user prompt."""
    known: dict[str, object] = {
        "content_session_id": "5f0c0000-1111",
        "prompt_number": record_id,
        "prompt_text": text,
        "created_at": iso_utc(at),
        "created_at_epoch": at,
        "project": "farm-api",
    }
    return Prompt(**{**known, "id": record_id, **over})  # type: ignore[arg-type]


def many(count: int, *, project: str = "farm-api") -> list[Record]:
    """So many observations, the last the newest, a minute apart."""
    return [
        observation(number, f"Finding number {number} about the {_THINGS[number % len(_THINGS)]}",
                    at=NOW_MS - (count - number) * MINUTE_MS, project=project)
        for number in range(1, count + 1)
    ]  # fmt: skip


_THINGS = ("parser", "session store", "rate limit", "cache", "login form", "queue", "index", "scheduler")


def entry_of(record: Record) -> Entry:
    """A record as a line of the index."""
    return Entry(**_known(record))  # type: ignore[arg-type]


def _known(record: Record) -> dict[str, object]:
    key = key_of(record)
    kind = {RecordKind.SUMMARY: "session", RecordKind.PROMPT: "prompt"}.get(key.kind, getattr(record, "type", ""))
    return {
        "kind": key.kind,
        "id": key.id,
        "type": kind,
        "title": " ".join(_title(record).split()) or "untitled",
        "project": record.project or "",
        "created_at_epoch": record.created_at_epoch,
        "read_tokens": estimate_tokens(_text(record)),
        "discovery_tokens": (getattr(record, "discovery_tokens", 0) or 0),
        "session": getattr(record, "memory_session_id", None),
        "prompt_number": record.prompt_number,
    }


def _title(record: Record) -> str:
    match record:
        case Observation():
            return record.title or record.subtitle or record.narrative or ""
        case Summary():
            return record.request or ""
        case Prompt():
            return record.prompt_text


def _text(record: Record) -> str:
    match record:
        case Observation():
            facts = " ".join(items(record.facts))
            return " ".join(part for part in (record.title, record.subtitle, record.narrative, facts) if part)
        case Summary():
            columns = (record.request, record.investigated, record.learned, record.completed, record.next_steps)
            return " ".join(part for part in columns if part)
        case Prompt():
            return record.prompt_text


@dataclass
class Memory:
    """Records, and the answers about them. asked: every request, in order.

    meant: what is found by meaning, best first, whatever the words; None switches that off. half_answered: why not all
    of it has a say yet.
    """

    records: list[Record] = field(default_factory=list)
    data_dir: str = "/memory"
    asked: list[tuple[str, Params]] = field(default_factory=list)
    meant: tuple[RecordKey, ...] | None = None
    half_answered: Degraded | None = None

    def __post_init__(self) -> None:
        self._sort()
        self.surveyed = Surveyed(lambda: [entry_of(record) for record in self.records], NOW_MS)

    def add(self, *records: Record) -> None:
        """More records."""
        self.records += records
        self._sort()

    def remove(self, numbers: Collection[int]) -> None:
        """These are gone."""
        self.records[:] = [record for record in self.records if key_of(record).id not in numbers]
        self._sort()

    def replace(self, record: Record) -> None:
        """Another version of a record."""
        self.records = [record if key_of(known) == key_of(record) else known for known in self.records]
        self._sort()

    def _sort(self) -> None:
        self.records.sort(key=lambda record: (record.created_at_epoch, key_of(record)), reverse=True)
        self._by_key = {key_of(record): record for record in self.records}
        self._texts = {key: _text(record).lower() for key, record in self._by_key.items()}

    def answer(self, path: str, params: Params) -> object:
        """What the worker says. Errors: ``NotFound``."""
        self.asked.append((path, params))
        match path:
            case calls.HEALTH:
                return Health(status="ok", program=PROGRAM, initialized=True, dataDir=self.data_dir)
            case calls.STATS:
                return self._stats()
            case calls.SEARCH:
                return self._search(params)
            case calls.FACETS:
                return self._facets(params)
            case calls.PROJECTS:
                names = dict.fromkeys(record.project or "" for record in self.records)
                return Projects(projects=tuple(names), sources=(), projectsBySource={})
            case calls.TIMELINE:
                return self._timeline(params)
            case calls.LANES:
                return self._lanes(params)
            case calls.LANES_NEXT:
                return self._next_session(params)
        known = self.surveyed.answer(path, params)
        return known if known is not None else self._record(path)

    def _stats(self) -> Stats:
        kinds = [key_of(record).kind for record in self.records]
        return Stats(
            worker=WorkerStats(version="0", uptime=1, activeSessions=0, sseClients=1, port=0),
            database=DatabaseStats(
                path=self.data_dir + "/claude-mem.db", size=1, sessions=1,
                observations=kinds.count(RecordKind.OBSERVATION),
                summaries=kinds.count(RecordKind.SUMMARY),
                prompts=kinds.count(RecordKind.PROMPT),
            ),
        )  # fmt: skip

    def _record(self, path: str) -> Record:
        for form, kind in (
            (calls.OBSERVATION, RecordKind.OBSERVATION),
            (calls.SUMMARY, RecordKind.SUMMARY),
            (calls.PROMPT, RecordKind.PROMPT),
        ):
            if found := re.fullmatch(form.replace("{id}", r"(\d+)"), path):
                record = self._by_key.get(RecordKey(kind, int(found[1])))
                if record is not None:
                    return record
        raise NotFound(f"no such record: {path}")

    def _filtered(self, params: Params) -> list[Record]:
        said = parse(params.get("query", ""), now_epoch_ms=NOW_MS, zone=dt.UTC, typing="typing" in params)
        words = re.findall(r"\w+", said.text.lower())
        kinds = params.get("kind", "").split(",") if params.get("kind") else []
        since = max(int(params.get("dateStart", 0)), said.since_epoch_ms or 0)
        until = min(int(params.get("dateEnd", 2**53)), said.until_epoch_ms or 2**53)
        files = (*said.files, *filter(None, params.get("files", "").split(",")))
        found = [
            record
            for record in self.records
            if (not kinds or key_of(record).kind in kinds)
            and _in_scope(record, params)
            and since <= record.created_at_epoch <= until
            and (not said.types or _known(record)["type"] in said.types)
            and (not said.projects or record.project in said.projects)
            and (not said.concepts or {*said.concepts} & {*items(getattr(record, "concepts", None))})
            and (not said.sessions or _known(record)["session"] in said.sessions)
            and (not files or any(file in path for path in _files(record) for file in files))
            and all(word in self._texts[key_of(record)] for word in words)
        ]
        return _in_order(found, params.get("orderBy", ""))

    def _search(self, params: Params) -> SearchPage:
        found = self._filtered(params)
        by_words = [key_of(record) for record in found]
        strategy, degraded = "filter", None
        meant: tuple[RecordKey, ...] = ()
        if worded := re.search(r"\w", _words(params)):
            strategy = "keyword"
        if worded and "mode" not in params and "orderBy" not in params:
            degraded = Degraded.INDEX_OFF if self.meant is None else self.half_answered
            meant = self.meant or ()
            strategy = "hybrid" if self.meant is not None else strategy
            fused = sorted(
                dict.fromkeys([*by_words, *meant]), key=lambda key: -_worth(by_words, key) - _worth(meant, key)
            )
            found = [self._by_key[key] for key in fused] if meant else found
        offset, limit = int(params.get("offset", 0)), int(params["limit"])
        hits = tuple(_hit(record, by_words if worded else (), meant) for record in found[offset : offset + limit])
        notes = parse(params.get("query", ""), now_epoch_ms=NOW_MS, zone=dt.UTC, typing="typing" in params).notes
        return SearchPage(hits=hits, total=len(found), query=params.get("query", ""), offset=offset, notes=notes,
                          strategy=strategy, degraded=degraded, took_ms=3.2)  # fmt: skip

    def _facets(self, params: Params) -> Facets:
        found = self._filtered(params)
        times = [record.created_at_epoch for record in found]
        first, last = min(times, default=None), max(times, default=None)
        steps = (MINUTE_MS * 15, MINUTE_MS * 60, MINUTE_MS * 360, DAY_MS, DAY_MS * 7)
        room = int(params.get("buckets", 120))  # a strip has none
        span = (last or 0) - (first or 0)
        step = next((step for step in steps if span / step < room - 1), DAY_MS * 30)
        buckets = tuple(_buckets(found, step))
        if "bucketMs" in params:
            step = int(params["bucketMs"])
            start, stop = (int(params[name]) // step for name in ("stripStart", "stripEnd"))
            known = {bucket.start_epoch_ms: bucket for bucket in _buckets(found, step)}
            empty = (Bucket(number * step, 0, {}, (number + 1) * step) for number in range(start, stop + 1))
            buckets = tuple(known.get(bucket.start_epoch_ms, bucket) for bucket in empty)
        types = [str(_known(record)["type"]) for record in found]
        return Facets(
            total=len(found), kinds=(), bucket_ms=step, buckets=buckets, first_epoch_ms=first, types=_counts(types),
            projects=_counts([record.project or "" for record in found]), last_epoch_ms=last,
            concepts=_counts([name for record in found for name in items(getattr(record, "concepts", None))])
            if "withConcepts" in params else (),
        )  # fmt: skip

    def _timeline(self, params: Params) -> Timeline:
        key = parse_key(params["anchor"])
        same = self._scoped(params)
        if len(params["anchor"]) >= 12:
            moment = int(params["anchor"])
            later = (at for at, record in enumerate(same) if record.created_at_epoch >= moment)
            index: int | None = next(later, len(same) - 1)
        else:
            index = next((at for at, record in enumerate(same) if key_of(record) == key), None)
        if index is None:
            raise NotFound(f"no record {params['anchor']}")
        start = max(0, index - int(params["depth_before"]))
        entries = tuple(entry_of(record) for record in same[start : index + int(params["depth_after"]) + 1])
        return Timeline(entries=entries, anchor=params["anchor"], anchor_index=index - start)

    def _scoped(self, params: Params) -> list[Record]:
        """Oldest first."""
        return self._filtered({name: params[name] for name in ("project", "session", "dateEnd") if name in params})[
            ::-1
        ]

    def _lanes(self, params: Params) -> Lanes:
        step, found = int(params["bucketMs"]), self._scoped(params)
        if not found:
            return Lanes(buckets=(), bucket_ms=step)
        middle, half = int(params["around"]), (int(params["buckets"]) - 2) // 2 * step
        start = max(found[0].created_at_epoch, middle - half) // step
        stop = min(found[-1].created_at_epoch, middle + half) // step
        seen = [record for record in found if start <= record.created_at_epoch // step <= stop]
        known = {bucket.start_epoch_ms: bucket for bucket in _buckets(seen, step)}
        empty = (Bucket(number * step, 0, {}, (number + 1) * step) for number in range(start, stop + 1))
        sessions = dict.fromkeys(_session(record) for record in seen)
        lanes = [
            Lane(
                session=session, project=mine[0].project or "", first_epoch_ms=mine[0].created_at_epoch,
                last_epoch_ms=mine[-1].created_at_epoch, records=len(mine),
                work_tokens=sum(entry_of(record).discovery_tokens for record in mine),
                cells=tuple(
                    LaneCell(bucket.start_epoch_ms // step - start, bucket.types) for bucket in _buckets(mine, step)
                ),
            )
            for session in sessions
            if (mine := [record for record in seen if _session(record) == session])
        ]  # fmt: skip
        buckets = tuple(known.get(bucket.start_epoch_ms, bucket) for bucket in empty)
        return Lanes(buckets=buckets, bucket_ms=step, lanes=tuple(lanes[: int(params["lanes"])]), total=len(lanes))

    def _next_session(self, params: Params) -> SessionBegin:
        begins: dict[str, int] = {}
        for record in self._scoped(params):
            if session := _session(record):
                begins.setdefault(session, record.created_at_epoch)
        moment, later = int(params["around"]), "later" in params
        beyond = [(at, name) for name, at in begins.items() if (at > moment if later else at < moment)]
        if not beyond:
            return SessionBegin()
        at, name = min(beyond) if later else max(beyond)
        return SessionBegin(session=name, epoch_ms=at)


def _in_scope(record: Record, params: Params) -> bool:
    project, main = params.get("project"), head(params.get("project", ""))
    family = main is not None and f"{record.project}/".startswith(f"{main}/")
    return (project in (None, record.project) or family) and params.get("session", "") in ("", _session(record))


def _session(record: Record) -> str:
    return str(_known(record)["session"] or "")


def _buckets(records: Sequence[Record], step: int) -> Iterator[Bucket]:
    """Those with a record, in order of time."""
    ordered = sorted(records, key=lambda record: record.created_at_epoch)
    for number, group in itertools.groupby(ordered, key=lambda record: record.created_at_epoch // step):
        types = Counter(str(_known(record)["type"]) for record in group)
        yield Bucket(number * step, types.total(), dict(types), (number + 1) * step)


def _words(params: Params) -> str:
    return parse(params.get("query", ""), now_epoch_ms=NOW_MS, zone=dt.UTC, typing=True).text


def _counts(values: list[str]) -> tuple[Count, ...]:
    return tuple(Count(value, count) for value, count in Counter(values).most_common())


def _files(record: Record) -> list[str]:
    columns = ("files_read", "files_modified", "files_edited")
    return [path for column in columns for path in items(getattr(record, column, None))]


def _in_order(found: list[Record], order: str) -> list[Record]:
    """As asked for; newest first to begin with."""
    if order == "date_asc":
        return found[::-1]
    name, _, way = order.partition("_")
    figures: dict[str, Callable[[Entry], float]] = {
        "read": lambda entry: entry.read_tokens,
        "work": lambda entry: entry.discovery_tokens,
        "ratio": lambda entry: entry.discovery_tokens / max(entry.read_tokens, 1),
    }
    figure = figures.get(name)
    if figure is None:
        return found
    return sorted(found, key=lambda record: figure(entry_of(record)), reverse=way == "desc")


def _place(ranking: Sequence[RecordKey], key: RecordKey) -> int | None:
    return ranking.index(key) + 1 if key in ranking else None


def _worth(ranking: Sequence[RecordKey], key: RecordKey) -> float:
    place = _place(ranking, key)
    return 1 / (60 + place) if place is not None else 0.0


def _hit(record: Record, by_words: Sequence[RecordKey] = (), meant: Sequence[RecordKey] = ()) -> Hit:
    key = key_of(record)
    return Hit(
        **_known(record), score=_worth(by_words, key) + _worth(meant, key), snippet=Snippet(""),  # type: ignore[arg-type]
        keyword_rank=_place(by_words, key), vector_rank=_place(meant, key),
    )  # fmt: skip


def encoded(value: object) -> bytes:
    """As on the wire."""
    return msgspec.json.encode(value)


def farm() -> list[Record]:
    """A small memory of some weeks, with every kind of record in it."""
    return [*_older(), *_week()]


def _week() -> Sequence[Record]:
    return [
        observation(
            4821, "Refresh token race in session worker", at=NOW_MS - 32 * MINUTE_MS, discovery_tokens=9400,
            subtitle="Two workers refreshed one token at once",
            narrative=(
                "Two workers refreshed at once; the second used a revoked token and was logged out. Lock per user id "
                "around the refresh, and retry once on 409.\n\nThe lock lives in Redis with a lease of 5 s, so that a "
                "worker that dies does not hold it for ever."
            ),
            facts='["The race shows only with two workers or more","Lock key: refresh:{user_id}, lease 5 s",'
            '"A 409 is retried once, then the session ends"]',
            concepts='["problem-solution","gotcha"]',
            files_modified='["api/session.py","tests/test_race.py"]', files_read='["api/tokens.py"]', prompt_number=14,
        ),
        prompt(140, "why are people logged out at random? only in production", at=NOW_MS - 61 * MINUTE_MS),
        observation(4817, "Choose rotating refresh tokens", at=NOW_MS - 44 * MINUTE_MS, type="decision",
                    discovery_tokens=3100),
        observation(4809, "修复身份验证缓存失效", at=NOW_MS - 66 * MINUTE_MS, discovery_tokens=5200,
                    narrative="身份验证缓存在令牌轮换后没有失效，用户看到旧的权限。"),
        observation(4790, "Move auth middleware before CORS", at=NOW_MS - 242 * MINUTE_MS, type="change",
                    discovery_tokens=800),
        observation(4788, "401 after laptop sleep: clock skew", at=NOW_MS - 247 * MINUTE_MS, discovery_tokens=12_400),
        summary(88, "Find out why sessions end early", at=NOW_MS - 250 * MINUTE_MS, discovery_tokens=21_400,
                investigated="Token refresh under load, clock skew after sleep, the cache of roles.",
                learned="Sessions ended early for three reasons, of which the race was the loudest.",
                completed="Lock around the refresh; leeway of 30 s; cache keyed by token id.",
                next_steps="Watch the 409 rate for a week."),
        observation(4771, "Split token store from session store", at=NOW_MS - 324 * MINUTE_MS, type="refactor",
                    discovery_tokens=0),
        observation(4769, "Add idle timeout to admin sessions", at=NOW_MS - 333 * MINUTE_MS, type="feature",
                    discovery_tokens=2700),
        observation(4755, "Session cookie lacks SameSite", at=NOW_MS - 1 * DAY_MS, type="security_alert",
                    discovery_tokens=640),
        observation(4750, "Redis keys carry no prefix in staging", at=NOW_MS - 1 * DAY_MS - 90 * MINUTE_MS,
                    type="discovery", discovery_tokens=1900),
        observation(4741, "セッションの有効期限を延長", at=NOW_MS - 2 * DAY_MS, type="feature", project="mizu-docs",
                    discovery_tokens=4100),
        observation(4733, "Deploy 🚀 of the 👨‍👩‍👧 plan page", at=NOW_MS - 2 * DAY_MS - 40 * MINUTE_MS, type="change",
                    project="web", discovery_tokens=300),
    ]  # fmt: skip


def _older() -> Sequence[Record]:
    kinds = ("bugfix", "feature", "discovery", "change", "refactor", "decision", "discovery")
    topics = (
        "Pagination skips the last row", "Cache headers on images", "Retry uploads with a new part number",
        "Rate limit counts failed logins twice", "Index on orders.created_at", "Timeout of the export job",
        "Emails sent in the wrong language", "Search ignores accents", "Webhook signature checked too late",
    )  # fmt: skip
    records: list[Record] = []
    for number in range(110):
        days = 3 + number // 4 + (number // 20) * 2
        at = NOW_MS - days * DAY_MS - (number * 37 % 600) * MINUTE_MS
        project = ("farm-api", "web", "infra")[number % 3]
        records.append(
            observation(4700 - number * 5, topics[number % len(topics)], at=at, type=kinds[number % len(kinds)],
                        project=project, discovery_tokens=number * 331 % 15_000)
        )  # fmt: skip
    return records
