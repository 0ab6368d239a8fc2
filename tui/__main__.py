"""`python -m tui`: flags, settings, run."""

import argparse
import contextlib
import gc
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from worker.contract import remote, settings
from worker.contract.errors import MemError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the terminal app; the exit code. argv: with or without the `tui` that named it."""
    given = list(sys.argv[1:] if argv is None else argv)
    flags = _flags(given[1:] if given[:1] == ["tui"] else given)
    # Textual draws on standard error, so that one must be a terminal too.
    if not flags.plain and not all(
        stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)
    ):
        print("claude-mem tui: needs a terminal; use --plain, or `claude-mem search` in scripts", file=sys.stderr)
        return 2
    try:
        loaded = remote.chosen(flags, settings.load())
    except MemError as error:
        print(f"claude-mem tui: {error.message}", file=sys.stderr)
        return 2
    chosen = loaded.for_demo() if flags.demo and not loaded.remote else loaded
    if flags.plain:
        return _run_plain(chosen, flags)
    _tame_colours(os.environ)
    return _run(chosen, flags)


def _flags(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="claude-mem tui", description="Look through what is remembered.")
    parser.add_argument("--demo", action="store_true", help="a demo memory beside yours, to look around in")
    parser.add_argument("--read-only", action="store_true", help="refuse whatever would change the memory")
    parser.add_argument("--project", metavar="NAME", help="only this project, at the start")
    parser.add_argument("--no-restore", action="store_true", help="begin afresh, not where it was left")
    parser.add_argument("--plain", action="store_true", help="as lines, for screen readers: no boxes, no motion")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    remote.add_flags(parser)
    return parser.parse_args(given)


def _tame_colours(environ: MutableMapping[str, str]) -> None:
    """No true colour in GNU screen, which paints it as bright blocks; 256 colours do. tmux under that name is fine too.

    Textual reads this when it is imported, and nothing else of ours needs it, so it is no setting.
    """
    if environ.get("TERM", "").startswith("screen"):
        environ.setdefault("TEXTUAL_COLOR_SYSTEM", "256")


def _run(chosen: settings.Settings, flags: argparse.Namespace) -> int:
    gc.disable()  # all that is made until the first paint stays: going through it again and again takes 40 ms
    from tui.app import MemoryApp  # Textual: 200 ms that `--help` and a refusal do not wait for
    from tui.cells import glyphs
    from tui.cells.look import Look
    from tui.keymap import file as keymap_file

    keys = keymap_file.load(chosen.data_dir / keymap_file.NAME)
    look = Look(glyphs.ASCII if flags.ascii else glyphs.UNICODE, lambda: time.time_ns() // 1_000_000, keys=keys.keys)
    app = MemoryApp(
        chosen,
        look,
        project=flags.project,
        kept=chosen.data_dir / _kept_name(chosen),
        guarded=flags.read_only,
        keys=keys,
        restore=not flags.no_restore,
        program=_program(),
        environ=os.environ,
        painted=_collect,
    )
    app.run(mouse=not flags.no_mouse)
    return app.return_code or 0


def _collect() -> None:
    """Collect what is left over by now and from now on; what stays is not looked through again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _run_plain(chosen: settings.Settings, flags: argparse.Namespace) -> int:
    import asyncio  # 60 ms with what follows, that the screen's own start does not need here

    from tui.cells import glyphs
    from tui.cells.look import Look
    from tui.gateway.front import Gateway
    from tui.plain import Plain
    from tui.state.model import Ask, ViewState

    place = chosen.url if chosen.remote else str(chosen.database)
    state = ViewState(
        place=place,
        program=_program(),
        demo=chosen.demo,
        remote=chosen.remote,
        guarded=flags.read_only,
        ask=Ask(project=flags.project),
    )
    look = Look(glyphs.ASCII, lambda: time.time_ns() // 1_000_000)
    talk = Plain(Gateway(chosen), state, look, sys.stdout, ask=sys.stdin.isatty())
    try:
        return asyncio.run(talk.run(sys.stdin.fileno()))
    except KeyboardInterrupt:
        return 130


def _program() -> str:
    """How a person here types the command: by its name where that is found, else by its path."""
    beside = Path(sys.executable).with_name("claude-mem")
    found = shutil.which("claude-mem")
    if not beside.exists() or (found is not None and os.path.realpath(found) == os.path.realpath(beside)):
        return "claude-mem"
    with contextlib.suppress(OSError, ValueError):  # the folder is gone, or another
        beside = beside.relative_to(Path.cwd())
    return shlex.quote(str(beside))


def _kept_name(chosen: settings.Settings) -> str:
    """Of a worker elsewhere its own file: marks and cursor are of records there."""
    return f"tui-{re.sub('[^A-Za-z0-9.-]', '_', chosen.host)}-{chosen.port}.json" if chosen.remote else "tui.json"


if __name__ == "__main__":
    sys.exit(main())
