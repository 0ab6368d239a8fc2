"""A real browser without a window: Chromium, told what to do over a pipe (its DevTools protocol), so no port is taken.

Where ``program`` finds none, a test that wants one is to be skipped.
"""

import base64
import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 60.0
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--force-color-profile=srgb", "--lang=en-US", "--remote-debugging-pipe", "about:blank",
)  # fmt: skip
_KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowUp": (38, "")}


def program() -> str | None:
    """The path of a Chromium, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Browser:
    """The process. heard: events that nobody has looked at yet, oldest first."""

    process: subprocess.Popen[bytes]
    to: int
    of: int
    heard: list[dict[str, Any]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""

    def ask(self, method: str, session: str | None = None, /, **params: Any) -> Any:
        """The answer to a command."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            told = self._next(deadline)
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            if "method" in told:
                self.heard.append(told)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.of], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.of, 2**20)
            assert piece, "the browser has ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    @contextlib.contextmanager
    def page(self, width: int = 1440, height: int = 900, *, dark: bool = False) -> Iterator["Page"]:
        """A tab of a profile of its own."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.ask("Emulation.setEmulatedMedia", features=[scheme])
        try:
            yield page
        finally:
            self.ask("Target.disposeBrowserContext", browserContextId=context)


@dataclass
class Page:
    """One tab."""

    browser: Browser
    session: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, /, **params: Any) -> Any:
        """The answer to a command to this tab."""
        return self.browser.ask(method, self.session, **params)

    def go(self, address: str) -> None:
        """Open an address."""
        assert "errorText" not in self.ask("Page.navigate", url=address)

    def js(self, expression: str) -> Any:
        """The value of an expression, a promise's when it is kept."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> Any:
        """The first value of an expression that is true."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            # What the expression looks into may not be there yet.
            found = self.js(
                f"(() => {{ try {{ const it = {expression}; return it instanceof Node ? true : it; }}"
                " catch (error) { if (error instanceof TypeError) return null; throw error; } })()"
            )
            if found:
                return found
            assert time.monotonic() < deadline, f"{expression} is still {found!r}: {self.text()}"
            time.sleep(0.02)

    def text(self) -> str:
        """What stands on the page, as a person sees it."""
        return str(self.js("document.body.innerText"))

    def press(self, *keys: str) -> None:
        """Keys of the keyboard, one after the other."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key.upper()[0]), key))
            common = {"key": key, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Text into what has the focus."""
        self.ask("Input.insertText", text=text)

    def picture(self, file: Path) -> None:
        """A screenshot."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def complaints(self) -> list[str]:
        """Errors that the browser had to tell since the last look: exceptions, blocked scripts, failed requests."""
        self.js("1")  # what was said before is heard with the answer
        told = [one for one in self.browser.heard if one.get("sessionId") == self.session]
        self.browser.heard = [one for one in self.browser.heard if one.get("sessionId") != self.session]
        self.events += told
        found = []
        for one in told:
            if one["method"] == "Runtime.exceptionThrown":
                found.append(str(one["params"]["exceptionDetails"].get("exception", {}).get("description")))
            elif one["method"] == "Log.entryAdded" and one["params"]["entry"]["level"] == "error":
                found.append(f"{one['params']['entry']['text']} {one['params']['entry'].get('url', '')}")
        return found

    def asked(self) -> list[str]:
        """Addresses that the page asked for."""
        self.complaints()
        sent = (one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent")
        return [url for url in sent if not url.startswith("data:")]


@contextlib.contextmanager
def running_browser(path: str, home: Path) -> Iterator[Browser]:
    """A browser; ended with the block."""
    commands, to = os.pipe()
    of, answers = os.pipe()
    # Beyond 3 and 4, so that neither is overwritten as they are put there.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (commands, answers)]

    def hand_over() -> None:
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    process = subprocess.Popen(
        (path, f"--user-data-dir={home / 'profile'}", *_FLAGS),
        env=os.environ | {"HOME": str(home), "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=hand_over,
        pass_fds=(3, 4),
        start_new_session=True,
    )
    for end in (commands, answers, *ends):
        os.close(end)
    browser = Browser(process, to, of)
    try:
        browser.ask("Browser.getVersion")
        yield browser
    finally:
        with contextlib.suppress(OSError, AssertionError):
            browser.ask("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(to)
        os.close(of)
