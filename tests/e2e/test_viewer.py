"""The viewer in a real browser, on a real worker. Skipped where there is no Chromium."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, Page, program, running_browser
from tests.factories import make_batch, observation_row, prompt_row, summary_row
from tests.processes import WorkerProcess, free_port, running_worker
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import SearchQuery

CHROMIUM = program()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path, so no page can be looked at")
HOSTILE = (
    "<img src=x onerror=\"window.broken='img'\"><script>window.broken='script'</script>\u202e</title>\u2028&lt;b&gt;"
)
LIVE = "document.getElementById('live').textContent === 'Live'"
OPEN = "document.querySelector('#record h2')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert CHROMIUM
    with running_browser(CHROMIUM, tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    data = tmp_path_factory.mktemp("home") / "data"
    data.mkdir()
    kept = {"their_own": {"deep": ["kept", 1]}, "THEIR_API_KEY": "sk-abcdefghijkl9876"}
    (data / "settings.json").write_text(json.dumps(kept))
    with running_worker(data) as worker:
        rows = [
            observation_row(
                f"{HOSTILE} zebra", narrative=f"story {HOSTILE}", facts=json.dumps([HOSTILE]), project=HOSTILE,
                type="constructor", concepts=json.dumps([HOSTILE]), files_read=json.dumps([f"src/{HOSTILE}"]),
                discovery_tokens=2300,
            ),
            observation_row("Giraffe reaches the cache", narrative="long neck \U0001f992 and cache", type="decision"),
            observation_row("Older giraffe", created_at_epoch=1_700_000_000_000),
        ]  # fmt: skip
        batch = make_batch(rows, summaries=[summary_row("Fix the giraffe")], prompts=[prompt_row("why a giraffe?")])
        worker.quick.send(calls.import_batch(batch))
        yield worker


@contextlib.contextmanager
def viewer(browser: Browser, worker: WorkerProcess, width: int = 1440, *, dark: bool = False) -> Iterator[Page]:
    with browser.page(width, 800, dark=dark) as page:
        page.go(f"http://127.0.0.1:{worker.port}/")
        page.wait("document.readyState === 'complete'")
        yield page


@pytest.fixture
def page(browser: Browser, worker: WorkerProcess) -> Iterator[Page]:
    """Wide and light, the list read. Nothing may have gone wrong in it at the end."""
    with viewer(browser, worker) as page:
        page.wait(f"document.querySelectorAll('.row').length > 3 && {LIVE}")
        yield page
        assert page.complaints() == []
        assert {url.split("/")[2] for url in page.asked()} == {f"127.0.0.1:{worker.port}"}


def titles(page: Page) -> list[str]:
    found: list[str] = page.js("[...document.querySelectorAll('.title')].map((one) => one.textContent)")
    return found


def seek(page: Page, words: str) -> None:
    page.press("/")
    page.wait("document.activeElement.id === 'q'")
    page.write(words)
    told = "document.getElementById('told').textContent"
    page.wait(f"!document.querySelector('.day') && /^[0-9,]+ memor(y|ies, best first)$/.test({told})")


def test_hostile_text_is_text(page: Page) -> None:
    """In the list, the record, the filters and the timeline: what looks like markup is read as it was written."""
    assert any("<img src=x onerror" in title for title in titles(page))
    rows = "[...document.querySelectorAll('.row')]"
    page.js(f"location.hash = {rows}.find((one) => one.textContent.includes('<img')).dataset.key")
    page.wait("document.querySelector('.around')")
    record = page.js("document.getElementById('record').textContent")
    assert "constructor" in record and "native code" not in page.text()
    assert record.count("<script>window.broken='script'</script>") >= 5
    assert page.js("document.querySelectorAll('main img, main script, option img').length") == 0
    assert page.js("window.broken === undefined")
    assert page.js("[...document.getElementById('project').options].some((one) => one.value.includes('<img'))")
    # Were there a way for markup, the page's policy would still let nothing of it run.
    page.js(
        "window.tried = (() => { try { document.body.innerHTML = '<b>x'; return 'set'; } catch { return 'no'; } })()"
    )
    assert page.js("window.tried") == "no"
    told = page.complaints()
    assert told and all("TrustedHTML" in one or "Content Security Policy" in one for one in told)


def test_keyboard_alone_will_do(page: Page) -> None:
    seek(page, "giraffe")
    # By words at once, and the whole answer after it.
    phases = ["phase=keyword" in url for url in page.asked() if "query=giraffe" in url]
    assert sorted(phases) == [False, True]
    assert page.js("document.querySelector('mark').textContent").lower() == "giraffe"
    page.press("Enter", "j")
    chosen = page.wait("document.querySelectorAll('.row')[1].getAttribute('aria-selected') === 'true' && "
                       "document.getElementById('list').getAttribute('aria-activedescendant')")  # fmt: skip
    assert page.js("document.activeElement.id") == "list"
    page.press("k", "j", "Enter")
    page.wait(f"{OPEN} && document.activeElement === {OPEN}")
    assert page.js("location.hash") == f"#{chosen.removeprefix('m-')}"
    assert page.js("document.querySelector('.around [aria-current=true]').textContent").strip()
    page.press("Escape")
    page.wait(f"!{OPEN} && document.activeElement.id === 'list'")
    page.press("?")
    page.wait("document.getElementById('keys').open")
    page.press("Escape")
    page.wait("!document.getElementById('keys').open")
    page.press("Escape")
    page.wait("document.getElementById('q').value === '' && document.querySelector('.day')")


def test_filters_and_empty_answers_are_told(page: Page) -> None:
    page.js("document.getElementById('kind').value = 'type:decision'")
    page.js("document.getElementById('kind').dispatchEvent(new Event('change', {bubbles: true}))")
    page.wait("document.querySelectorAll('.row').length === 1")
    assert titles(page) == ["Giraffe reaches the cache"]
    page.js("document.getElementById('to').value = '2020-01-01'")
    page.js("document.getElementById('to').dispatchEvent(new Event('change', {bubbles: true}))")
    page.wait("document.getElementById('empty').innerText.includes('No memory passes these filters')")
    page.js("document.querySelector('#empty button').click()")
    page.wait("document.querySelectorAll('.row').length > 3")


def test_tokens_snippet_and_degraded_state_are_shown(page: Page, worker: WorkerProcess) -> None:
    seek(page, "cache")
    page.wait("!document.getElementById('degraded').hidden")
    assert "meaning is switched off" in page.js("document.getElementById('degraded').textContent")
    (hit,) = worker.quick.send(calls.search(SearchQuery(text="zebra"))).hits
    assert page.js("document.querySelector('.snip').textContent").startswith("long neck \U0001f992 and cache")
    assert page.js("document.querySelector('.snip mark').textContent") == "cache"  # counted in code points
    page.press("Escape")
    page.wait("document.querySelector('.day')")
    figures = page.js(f"[...document.querySelectorAll('#m-{hit.id} .num b')].map((one) => one.textContent)")
    assert figures == [str(hit.read_tokens), "2.3k"]


def test_what_is_new_comes_by_itself(page: Page, worker: WorkerProcess) -> None:
    saved = worker.quick.send(calls.save(Save(text="okapi seen", title="Okapi", project="zoo")))
    page.wait(f"document.querySelector('#m-{saved.id}.come')")
    assert titles(page)[0] == "Okapi"
    seek(page, "okapi")
    other = worker.quick.send(calls.save(Save(text="okapi again", title="Okapi again", project="zoo")))
    page.wait("document.getElementById('fresh').textContent === '1 new'")
    page.js("document.getElementById('fresh').click()")
    page.wait(f"document.getElementById('m-{other.id}') && document.getElementById('fresh').hidden")
    page.js(f"location.hash = '{other.id}'")
    page.wait(f"{OPEN}.textContent === 'Okapi again'")
    for one in (saved, other):
        worker.quick.send(calls.delete(RecordKey(RecordKind.OBSERVATION, one.id)))
    page.wait(f"{OPEN}.textContent === 'This memory was deleted' && !document.getElementById('m-{other.id}')")


def test_settings_are_kept_changed_and_refused_at_their_field(page: Page, worker: WorkerProcess) -> None:
    page.press(",")
    page.wait("document.querySelector('.save')")
    field = "[...document.querySelectorAll('.field')].find((one) => one.textContent.includes('{}')).{}"

    def fill(name: str, value: str) -> None:
        page.js(f"(() => {{ const it = {field.format(name, 'querySelector(`input, textarea`)')}; it.value = "
                f"{json.dumps(value)}; it.dispatchEvent(new Event('input', {{bubbles: true}})); }})()")  # fmt: skip

    their = page.js(field.format("their_own", "querySelector('textarea').value"))
    assert json.loads(their) == {"deep": ["kept", 1]}
    assert page.js(field.format("THEIR_API_KEY", "querySelector('input').value")) == "****9876"
    fill("CONTEXT_OBSERVATIONS", "9000")
    page.js("document.querySelector('.save [type=submit]').click()")
    wrong = page.wait(field.format("CONTEXT_OBSERVATIONS", "querySelector('.wrong').textContent"))
    assert "from 1 to 200" in wrong
    assert page.js("document.activeElement.getAttribute('aria-invalid')") == "true"
    fill("CONTEXT_OBSERVATIONS", "70")
    fill("their_own", "[true]")
    page.js("document.querySelector('.save [type=submit]').click()")
    page.wait("document.querySelector('.save [role=status]').textContent.startsWith('Settings saved')")
    stored = json.loads((worker.data_dir / "settings.json").read_text())
    assert stored == {
        "their_own": [True],
        "THEIR_API_KEY": "sk-abcdefghijkl9876",
        "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "70",
    }
    assert all("422" in one for one in page.complaints())


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1440])
def test_right_at_any_width_in_light_and_dark(browser: Browser, worker: WorkerProcess, width: int, dark: bool) -> None:
    with viewer(browser, worker, width, dark=dark) as page:
        page.wait("document.querySelectorAll('.row').length > 3")
        for place in ("", page.js("document.querySelector('.row').dataset.key"), "settings"):
            page.js(f"location.hash = '{place}'")
            page.wait(
                {"": "true", "settings": "document.querySelector('.save')"}.get(
                    place, "document.querySelector('.around')"
                )
            )
            assert page.js("document.documentElement.scrollWidth") == width, place
        pairs = [("ink", "page"), ("soft", "page"), ("soft", "sunk"), ("soft", "accent-wash"), ("accent", "page"),
                 ("accent", "accent-wash"), ("accent-ink", "accent"), ("warn", "warn-wash"), ("bad", "bad-wash"),
                 ("ink", "mark"), ("soft", "card"), ("bad", "card")]  # fmt: skip
        light = page.js(
            """(names) => names"""
            and f"""(() => {{
            const probe = document.body.appendChild(document.createElement('i'));
            const light = (name) => {{
              probe.style.color = `var(--${{name}})`;
              const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map((c) => c / 255)
                .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
              return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            }};
            return {json.dumps(pairs)}.map((pair) => pair.map(light)); }})()"""
        )
        for pair, (one, other) in zip(pairs, light, strict=True):
            assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5, pair
        assert (light[0][0] > light[0][1]) is dark


def test_everything_that_takes_the_focus_has_a_name(page: Page) -> None:
    page.js("location.hash = document.querySelector('.row').dataset.key")
    page.wait("document.querySelector('.around')")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    focusable = [
        one for one in nodes
        if any(each["name"] == "focusable" and each["value"]["value"] for each in one.get("properties", ()))
        and one["role"]["value"] not in ("RootWebArea", "heading", "generic")
    ]  # fmt: skip
    assert len(focusable) > 12
    assert [one["role"]["value"] for one in focusable if not one.get("name", {}).get("value", "").strip()] == []


def test_slow_worker_is_told(browser: Browser, worker: WorkerProcess) -> None:
    with browser.page() as page:
        page.ask("Fetch.enable", patterns=[{"urlPattern": "*/api/search*"}])
        page.go(f"http://127.0.0.1:{worker.port}/")
        page.wait("document.getElementById('told').textContent.includes('slow to answer')")
        assert page.js("document.body.classList.contains('busy')")
        page.ask("Fetch.disable")
        page.wait("document.querySelectorAll('.row').length > 3 && !document.body.classList.contains('busy')")


def test_token_is_asked_for_kept_and_sent(browser: Browser, tmp_path: Path) -> None:
    tokens = {"CLAUDE_MEM_API_TOKEN": "tok-all", "CLAUDE_MEM_API_READ_TOKEN": "tok-read"}
    with running_worker(tmp_path / "data", environ=tokens) as worker, viewer(browser, worker) as page:
        page.wait("!document.getElementById('door').hidden && document.activeElement.id === 'token'")
        assert "No memories" not in page.text()
        page.write("wrong")
        page.press("Enter")
        page.wait("document.getElementById('door-told').textContent.includes('does not know this token')")
        page.js("document.getElementById('token').value = 'tok-read'")
        page.press("Enter")
        page.wait(f"{LIVE} && document.getElementById('empty').innerText.includes('No memories yet')")
        worker.quick.send(calls.save(Save(text="behind the door", title="Inside")))
        page.wait("document.querySelector('.row .title').textContent === 'Inside'")
        page.js("location.hash = 'settings'")
        page.wait("document.querySelector('.save')")
        page.js("(() => { const it = document.querySelector('.field input[type=checkbox]'); it.click(); })()")
        page.js("document.querySelector('.save [type=submit]').click()")
        page.wait("document.querySelector('.save').innerText.includes('this token may only read')")
        page.js("window.former = true; location.reload()")
        page.wait(f"!window.former && {LIVE}")
        assert page.js("document.getElementById('door').hidden")
        assert not any("tok-" in url for url in page.asked())


def test_worker_that_goes_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    with running_worker(data, port=port) as first, viewer(browser, first) as page:
        page.wait(LIVE)
        first.stop()
        page.wait("document.getElementById('live').textContent === 'Reconnecting'")
        page.js("document.getElementById('q').value = 'later'; "
                "document.getElementById('q').dispatchEvent(new Event('input'))")  # fmt: skip
        page.wait("document.getElementById('trouble').textContent.includes('The worker does not answer')")
        with running_worker(data, port=port) as second:
            second.quick.send(calls.save(Save(text="later", title="Said later")))
            page.wait(f"{LIVE} && document.getElementById('trouble').hidden")
            page.wait("document.querySelector('.row .title').textContent === 'Said later'")
