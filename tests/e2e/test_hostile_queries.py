"""Whatever somebody types is a question: through HTTP, the MCP bridge and the command line it has an answer.

After each way the database is as it was, the worker answers, and its log tells of no fault.
"""

import hashlib
import http.client
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.mcp.test_stdio import Bridge
from tests.processes import PATIENCE_S, WorkerProcess, running_worker
from worker.cli import main as command_line
from worker.contract import calls
from worker.contract.errors import Problem
from worker.contract.present import Text
from worker.contract.search import MOST_CHARS, Facets, SearchPage, SearchQuery, SearchRows

FIXTURE = Path(__file__).parents[3] / "shared" / "fixtures" / "upstream-13.25.3-1k.db"

pytestmark = pytest.mark.skipif(not FIXTURE.exists(), reason="the original's databases are not beside this checkout")

_OPERATORS = ("AND", "OR", "NOT", "NEAR", "and", "near/3")
_AROUND = ("{0}", "{0} fix", "fix {0}", "fix {0} token", "{0} {0}", "({0})", "fix {0} ({0} token)")
_NEAR = (
    "NEAR(fix token)", "NEAR(fix token, 5)", "NEAR(fix token, -1)", "NEAR(", "NEAR()",
    "NEAR(fix, 99999999999999999999)",
    'NEAR("fix" "token", x)', "^fix", "fix^", "^^", "^ fix", 'fix + token', '"fix" + "token"', "fix*", "*fix", "*",
    "**",
    "fix * token", '"fix" *', '"fix"*', "-", "--", "---", "-fix", "- fix", "fix -token -", '-"fix', "-*", "-(", "+fix",
)  # fmt: skip
_COLUMNS = (
    "title", "subtitle", "narrative", "text", "facts", "concepts", "request", "investigated", "learned", "completed",
    "next_steps", "notes", "prompt_text", "rowid", "rank", "observations_fts", "nothing",
)  # fmt: skip
_ON_COLUMN = ("{0}:fix", "{0} : fix", "{{{0}}} : fix", "-{0}:fix", "- {{{0} text}} : fix")
_QUOTES = (
    '"', '""', '"""', '""""', '" "', '"fix', 'fix"', 'fix" token', '"fix" "', '"fix ""token"', '"fix""token"', "'",
    "''",
    "'''", "'fix", "fix'", "'fix\"", "\"fix'", "'\"'", "\"'\"", "“fix token”", "“fix", "”fix“", "„fix“", "«fix»",
    "‘fix’",
    "‚fix‘", "＂fix＂", "`fix`", "``", "`", "´fix´", "\\\"fix\\\"", "\\'", '"\\"', "it's", "rock 'n' roll",
)  # fmt: skip
_BRACKETS = (
    "(", ")", "()", ")(", "((", "))", "(fix", "fix)", "((fix)", "(fix))", "fix()", "f(x) OR (", "[", "]", "[]",
    "[[fix]]",
    "{", "}", "{}", "{fix", "fix}", "<", ">", "<>", "<b>fix</b>", "{{fix}}", "${fix}", "#{fix}", "%{fix}",
)  # fmt: skip
_SQL = (
    "'; DROP TABLE observations; --", "fix'); DELETE FROM observations; --", "1 OR 1=1", "' OR '1'='1",
    "fix -- comment",
    "fix /* comment */ token", "/*", "*/", "; VACUUM;", "UNION SELECT sql FROM sqlite_master", "SELECT", "NULL",
    "null",
    "PRAGMA writable_schema=1", "?", "?1", ":a", "@a", "$a", "%s", "%", "_", "fix%", "_ix", "LIKE", "GLOB [a-z]*",
    "MATCH",
    "x'00'", "0x1F", "ATTACH DATABASE 'x' AS y", "INSERT INTO observations_fts(observations_fts) VALUES('delete-all')",
)  # fmt: skip
_CONTROLS = tuple(f"fix{chr(code)}token" for code in (*range(0x20), *range(0x7F, 0xA0)))
_MARKS = (
    "\0", "\0\0\0", "\0fix", "fix\0", " ", "\t", "\n", "\r\n", "\x1b[31mfix\x1b[0m", "\x1b]0;fix\x07",
    "\u202efix\u202c",
    "\u202dfix", "\u2066fix\u2069", "\u2069", "\u200e\u200f", "fi\u200bx", "\ufefffix", "fi\u00adx", "\u2028",
    "\u2029",
    "a\u2028b\u2029c", "\u00a0", "\u3000fix\u3000", "\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\ue000", "\u061cfix",
)  # fmt: skip
_SCRIPTS = (
    "🧠", "👩\u200d👩\u200d👧\u200d👦", "👍🏽", "🏳\ufe0f\u200d🌈", "🇩🇪", "\u200d", "\ufe0f", "e\u0301", "\u0301",
    "\u0301" * 300,
    "Z\u0351\u036b\u0343a\u0320\u032al\u0321g\u0489o", "ＦＩＸ", "ﬁx", "İstanbul", "ıI", "ß", "ẞ", "Σς", "漢字", "漢",
    "東京タワー",
    "修复 错误", "한국어", "ㅎㅏㄴ", "ไทย", "हिन्दी", "שלום עולם", "مرحبا fix بالعالم", "123 ١٢٣", "𝓯𝓲𝔁", "𠀀𠀁",
    "\U000e0001fix",
)  # fmt: skip
_HALVES = ("\ud800", "\udfff", "fix\ud83dtoken", "\udca9fix", "\udc80\udcff", "\ude00\ud83d", "type:\ud800", '"\udead"')
_PIECES = (
    "%00", "%", "%%", "%zz", "%2", "%25", "%E0%A4%A", "%c0%af", "%u0041", "&", "&&", "=", "a=b&c=d", "&limit=-1", "#",
    "#118",
    "?query=fix", "+", "a+b", "%2B", "\\", "\\\\", "\\u0000", "\\x00", '{"query": "fix"}', '{"a":', '["fix"',
    '["fix"]', "[1,2",
    "$(reboot)", "`reboot`", "; reboot", "| cat", "&& reboot", "> /dev/null", "$HOME", "~", "!!", "*.py",
    "../../etc/passwd",
    "/etc/passwd", "C:\\Windows\\System32", "\\\\host\\share", "file:///etc/passwd", "http://localhost/?a=b#c",
    "a@b.c",
    "-h", "--help", "--json", "--limit=0", "--demo", "-V", "--", "-- fix", "null", "undefined", "NaN", "true",
    "[object Object]",
)  # fmt: skip
_NUMBERS = (
    "0", "-0", "-1", "00", "1e309", "-1e309", "1.", ".1", ".", "..", "...", "1,2", ",", ",,,", ", fix", "2147483648",
    "9223372036854775808", "-9223372036854775809", "9" * 400, "0b1", "1_000", "½", "Ⅷ", "∞", "118", "S14", "P40",
    "S0", "P-1",
)  # fmt: skip
_UNREAD = (
    "since:xyz", "until:xyz", "at:xyz", 'at:"', 'at:"last', "since:2026-13-45", "since:99999999d", "until:-1",
    "at:0000-00-00",
    "since:1e309", "is:nothing", "is:nothing,prompt", "kind:x", "since:\0", "at:\U0001f9e0", "until:9999-99",
)  # fmt: skip
"""Filters of the language whose value cannot be read: looked for as text, and the answer says so."""
_FILTERS = (
    "type:", "types:", "project:", "concept:", "file:", "session:", "is:", "kind:", "since:", "until:", "at:",
    "type:,", "type:,,,",
    'type:""', 'type:"', 'type:"a', "type::", "type:type:bugfix", "type:*", "type:'", "type:%", "type:bugfix,",
    "TYPE:BUGFIX",
    "-type:bugfix", "-since:3d", "--type:bugfix", "project:..", 'project:"a b', "project:\0", "file:%", "file:_",
    "file:\\", "file://",
    "file:[", "session:S", "session:S99999999999999999999", "session:-1", "session:'", "is:prompt is:summary",
    "is:,prompt",
    "since:9999-12-31 until:0001-01-01", "since:9999-12-31", "until:0001-01-01", "at:now",
    "type:a type:b project:c file:d concept:e",
    "type:bugfix" + ",bugfix" * 90, " ".join(f"-word{n}" for n in range(400)), '"fix" ' * 300,
    "fix\u00a0type:bugfix", "ｔype:bugfix",
)  # fmt: skip
SHORT = tuple(
    dict.fromkeys(
        (
            *(form.format(operator) for operator in _OPERATORS for form in _AROUND),
            *(form.format(column) for column in _COLUMNS for form in _ON_COLUMN),
            *_NEAR, *_QUOTES, *_BRACKETS, *_SQL, *_CONTROLS, *_MARKS, *_SCRIPTS, *_HALVES, *_PIECES, *_NUMBERS,
            *_UNREAD,
            *_FILTERS,
        )
    )
)  # fmt: skip
LONG = (
    "a" * 100_000, "a" * 1_000_000, '"' * 50_000, "(" * 50_000, "[" * 50_000, ")" * 50_000, "a,b" * 45_000,
    "a " * 50_000,
    "漢" * 100_000, "漢" * 170_000, "🧠" * 100_000, "\0" * 100_000, "-a " * 20_000, "NOT " * 20_000, "*" * 50_000,
    "is:prompt " * 20_000, "type:" + "bugfix," * 101, "type:a " * 20_000,
    "type:" + "," * 50_000, "type:" + "a" * 50_000, "\u0301" * 50_000, "'" * 50_000, " " * 100_000, '"a" ' * 20_000,
    "since:x " * 10_000,
)  # fmt: skip
MANY = (
    "type:" + ",".join(f"t{n}" for n in range(101)), "types:" + ",".join(f"t{n}" for n in range(300)),
    "project:" + ",".join(f"p{n}" for n in range(101)), "concept:" + ",".join(f"c{n}" for n in range(101)),
    "file:" + ",".join(f"f{n}" for n in range(101)), "session:" + ",".join(f"S{n}" for n in range(101)),
)  # fmt: skip
"""Filters with more values than are taken."""
RAW = (
    b"query=%", b"query=%zz", b"query=%E0%A4%A", b"query=%c3%28", b"query=%ff%fe%fd", b"query=%ED%A0%80",
    b"query=%c0%80",
    b"query=%F5%80%80%80", b"query=+++fix+++", b"query=a&query=b", b"query=fix&&&", b"query=fix&=", b"query==",
    b"query=fix;limit=2",
    b"query[]=fix", b"query=fix\"'<>\\^`{|}", b"&&&=&", b"query=fix%2500", b"query=%u0041", b"query=fix#part",
)  # fmt: skip
"""Query strings as they stand in the first line of a request, malformed ones too."""
AS_PROCESS = (
    "NOT", 'fix" OR (', "'; DROP TABLE observations; --", "--help", "漢字 🧠", "\u202efix", "\x1b[31mfix",
    "\udc80\udcff fix",
    'at:"', "since:xyz", "$(reboot) `reboot`", "\n", "a" * 100_000, '"' * 50_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    data_dir = tmp_path_factory.mktemp("home") / "memory"
    data_dir.mkdir()
    shutil.copyfile(FIXTURE, data_dir / "claude-mem.db")
    with running_worker(data_dir) as running:
        yield running


@pytest.fixture(autouse=True)
def unharmed(worker: WorkerProcess) -> Iterator[None]:
    """Around each test: the original's tables stay as they are, the worker answers, and logs no fault."""
    before = _checksums(worker.data_dir / "claude-mem.db")
    assert len(before) >= 20
    yield
    assert _checksums(worker.data_dir / "claude-mem.db") == before
    assert worker.process.poll() is None
    page = worker.quick.send(calls.search(SearchQuery(text="preloadFramebuffer", limit=1)))
    assert len(page.hits) == 1
    logs = [file.read_text("utf-8") for file in (worker.data_dir / "logs").iterdir()]
    assert any(logs)
    assert [line for log in logs for line in log.splitlines() if "Traceback" in line or "[ERROR" in line] == []


def _checksums(database: Path) -> dict[str, str]:
    """A checksum for each table that the original made, those of its full text indexes too."""
    with sqlite3.connect(f"{FIXTURE.as_uri()}?mode=ro&immutable=1", uri=True) as original:
        names = [
            row[0] for row in original.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
    original.close()
    sums = {}
    with sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True) as read:
        for name in names:
            digest = hashlib.sha256()
            for row in read.execute(f'SELECT * FROM "{name}"'):
                digest.update(repr(row).encode("utf-8", "backslashreplace"))
            sums[name] = digest.hexdigest()
    read.close()
    return sums


def _shown(query: str) -> str:
    return f"{ascii(query[:80])} ({len(query)} characters)"


MOST_HEAD_BYTES = 2**20
"""Of a request up to its body; the worker takes a little more when it comes at once."""
CUT_OFF = 0


class _Http:
    """One connection, made again when the worker closed it."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)

    def get(self, path: str, query: bytes) -> tuple[int, bytes]:
        # As bytes: the library refuses first lines that are no ASCII or hold blanks, and a worker must not mind them.
        if self._connection.sock is None:
            self._connection.connect()
        response = http.client.HTTPResponse(self._connection.sock, method="GET")
        try:
            self._connection.sock.sendall(b"GET %b?%b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % (path.encode(), query))
            response.begin()
            status, body = response.status, response.read()
        except ConnectionError:
            if len(query) <= MOST_HEAD_BYTES:
                raise
            response.close()
            status, body = CUT_OFF, b""  # the refusal went under in what was still being sent
        if status == CUT_OFF or response.will_close:
            self.close()
        return status, body

    def close(self) -> None:
        self._connection.close()


FORMS: tuple[tuple[str, bytes, type[Any]], ...] = (
    (calls.SEARCH, b"limit=1", Text),
    (calls.SEARCH, b"limit=1&format=json", SearchRows),
    (calls.SEARCH, b"limit=1&format=hits", SearchPage),
    (calls.FACETS, b"buckets=3", Facets),
    (calls.TIMELINE, b"depth_before=0&depth_after=0", Text),
)


def _written(query: str) -> bytes:
    return b"query=" + quote(query.encode("utf-8", "surrogatepass"), safe="").encode()


def test_by_http(worker: WorkerProcess) -> None:
    assert len(SHORT) + len(LONG) >= 340
    wrong = []
    refused = 0
    connection = _Http(worker.port)
    for query in (*SHORT, *LONG):
        sent = _written(query)
        for path, more, form in FORMS:
            if len(query) > MOST_CHARS and (path, form) not in ((calls.SEARCH, SearchPage), (calls.TIMELINE, Text)):
                continue  # they share the reading of it
            status, body = connection.get(path, more + b"&" + sent)
            if len(sent) > MOST_HEAD_BYTES:
                refused += status != 200
                fine = status in (200, CUT_OFF) or (400 <= status < 500 and _is(Problem, body))
            elif path == calls.TIMELINE and not query.strip():
                fine = status == 200 and b"Must provide" in body  # blank is none, and an anchor is none either
            else:
                fine = status == 200 and _is(form, body)
            if not fine:
                wrong.append((path, form.__name__, _shown(query), status, body[:200]))
    connection.close()
    assert wrong == []
    assert refused, "the limit of a request's head was not met"


def _is(form: type[Any], body: bytes) -> bool:
    try:
        found = msgspec.json.decode(body, type=form)
    except msgspec.MsgspecError:
        return False
    match found:
        case Text():
            return not found.isError and bool(found.text)
        case SearchPage():
            return len(found.hits) <= 1 and found.total >= len(found.hits)
        case Problem():
            return bool(found.error) and found.code not in ("unknown", "internal")
    return True


def test_by_http_as_bytes(worker: WorkerProcess) -> None:
    wrong = []
    connection = _Http(worker.port)
    for sent in RAW:
        status, body = connection.get(calls.SEARCH, b"format=hits&limit=1&" + sent)
        if not ((status == 200 and _is(SearchPage, body)) or (400 <= status < 500 and _is(Problem, body))):
            wrong.append((sent, status, body[:200]))
    connection.close()
    assert wrong == []


def test_a_filter_that_cannot_be_read_is_told(worker: WorkerProcess) -> None:
    untold = [
        query
        for query in _UNREAD
        if not worker.quick.send(calls.search(SearchQuery(text=f"fix {query}", limit=1))).notes
    ]
    assert untold == []


@pytest.mark.parametrize("query", MANY, ids=lambda query: query.split(",")[0][:10])
def test_a_filter_with_too_many_values_is_told(worker: WorkerProcess, query: str) -> None:
    assert worker.quick.send(calls.search(SearchQuery(text=query, limit=1))).notes


async def test_by_mcp(worker: WorkerProcess) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "worker.cli.main", "mcp"], env=_environ(worker)
    )
    wrong = []
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        for number, query in enumerate((*SHORT, *LONG)):
            if _has_half(query):
                continue  # this client cannot write them; see below
            # Every third around its best hit too: what is read of the text is the same.
            asked: list[tuple[str, dict[str, Any]]] = [("search", {"query": query, "limit": 1})]
            if query.strip() and (number % 3 == 0 or query in LONG):
                asked.append(("timeline", {"query": query, "depth_before": 0, "depth_after": 0}))
            for tool, arguments in asked:
                answer = await session.call_tool(tool, arguments)
                text = "".join(item.text for item in answer.content if item.type == "text")
                if answer.is_error or not text:
                    wrong.append((tool, _shown(query), text[:200]))
    assert wrong == []


def _has_half(query: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in query)


def _environ(worker: WorkerProcess) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_MEM_")}
    return kept | {
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
    }


def test_halves_of_surrogate_pairs_by_mcp(worker: WorkerProcess) -> None:
    bridge = Bridge(_environ(worker))
    try:
        bridge.greet()
        wrong = []
        for number, query in enumerate(_HALVES, 2):
            bridge.call(number, "search", query=query, limit=1)
            answer = bridge.answer()
            if answer.get("id") != number or answer.get("result", {}).get("isError", "error" in answer):
                wrong.append((_shown(query), answer))
        assert wrong == []
    finally:
        bridge.close()


def test_by_command_line(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in _environ(worker).items():
        monkeypatch.setenv(name, value)
    wrong = []
    for number, query in enumerate((*SHORT, *LONG)):
        asked = [["search", "--limit", "1", *(["--json"] if number % 2 else []), "--", query]]
        if query.strip() and (number % 3 == 0 or query in LONG):
            asked.append(["timeline", "--before", "0", "--after", "0", "--query", "--", query])
        for words in asked:
            code = command_line.main(words)
            out, err = capsys.readouterr()
            if code not in (0, 1) or not out.strip() or not _only_notes(err):
                wrong.append((words[0], _shown(query), code, out[:100], err[:300]))
    assert wrong == []


def _only_notes(said: str) -> bool:
    return all(line.startswith("claude-mem: ") for line in said.splitlines())


def test_by_processes(worker: WorkerProcess) -> None:
    wrong = []
    for query in AS_PROCESS:
        command = (sys.executable, "-P", "-m", "worker.cli.main", "search", "--limit", "1", "--", query)
        ended = subprocess.run(command, env=_environ(worker), capture_output=True, timeout=PATIENCE_S, check=False)
        if ended.returncode not in (0, 1) or not ended.stdout.strip() or not _only_notes(ended.stderr.decode()):
            wrong.append((_shown(query), ended.returncode, ended.stdout[:100], ended.stderr[:300]))
    assert wrong == []
