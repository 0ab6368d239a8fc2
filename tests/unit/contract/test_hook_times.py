"""How long hooks took: what they leave, and what is made of it."""

import time
from pathlib import Path

from worker.cli.harness import event, timing
from worker.contract import advice, hook_times

NOW_MS = 1_795_618_800_000


def _line(ms: int, *, event: str = "observation", ago_ms: int = 0, outcome: str = "sent") -> str:
    return f"{NOW_MS - ago_ms} {event} {ms} {outcome}"


def test_median_and_share_of_each_event_the_most_frequent_first() -> None:
    lines = [_line(ms) for ms in range(1, 101)]
    lines += [_line(40, event="session-init", ago_ms=5000, outcome="spooled"), _line(90, event="session-init")]
    first, second = hook_times.summed(lines, NOW_MS, 2.0)
    assert (first.event, first.count, first.median_ms, first.p95_ms, first.slowest_ms) == (
        "observation",
        100,
        50,
        95,
        100,
    )
    assert (first.bound_ms, second.bound_ms) == (2000, 1000)
    assert (second.count, second.spooled, second.last_epoch_ms) == (2, 1, NOW_MS)


def test_what_is_old_or_no_line_of_a_hook_is_passed_over() -> None:
    lines = [
        "",
        "x",
        "\x1b[2J",
        _line(7, ago_ms=hook_times.DAY_MS),
        _line(1) + " more",
        f"{NOW_MS} OBS 1 sent",
        _line(9),
    ]
    (only,) = hook_times.summed(lines, NOW_MS, 2.0)
    assert (only.count, only.slowest_ms) == (1, 9)


def test_advice_comes_when_one_in_twenty_is_later_than_it_may_be() -> None:
    quick = hook_times.summed([_line(60)] * 99 + [_line(9000)], NOW_MS, 2.0)
    assert advice.hook_times(quick).state == advice.OK
    slow = hook_times.summed([_line(60)] * 90 + [_line(2100, outcome="late")] * 10, NOW_MS, 2.0)
    told = advice.hook_times(slow)
    assert (
        told.state == advice.WARN
        and "CLAUDE_MEM_HOOK_TIMEOUT_MS" in told.advice
        and "2,100 of 2,000 ms" in told.message
    )
    assert slow[0].late == 10
    assert advice.hook_times(()).state == advice.OK


def test_the_hasty_events_are_the_hook_s_own() -> None:
    assert {event.PROMPT, event.FILE, event.END} == hook_times.HASTY


def _note(data_dir: Path, outcome: str = "sent", *, left_s: float = 60.0) -> None:
    now_s = time.monotonic()
    timing.note(
        str(data_dir), "observation", outcome, began_s=now_s - 0.1, deadline_s=now_s + left_s, moment_ns=NOW_MS * 10**6
    )


def test_a_line_is_left_and_read_back_for_the_owner_alone(tmp_path: Path) -> None:
    _note(tmp_path)
    _note(tmp_path, left_s=-1)
    (told,) = hook_times.read(tmp_path, NOW_MS, 2.0)
    assert (told.count, told.late) == (2, 1) and 100 <= told.median_ms < 60_000
    file = tmp_path / "state" / "hook-times.log"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_long_file_is_cut_to_its_last_half_in_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "state" / "hook-times.log"
    file.parent.mkdir()
    count = timing.MOST_BYTES // len(_line(1000) + "\n") + 1
    file.write_text("".join(_line(1000 + at % 9000) + "\n" for at in range(count)))
    _note(tmp_path, "spooled")
    lines = file.read_text().splitlines()
    assert len(file.read_bytes()) <= timing.MOST_BYTES // 2
    assert all(len(line) == len(_line(1000)) for line in lines[:-1]) and lines[-1].endswith("spooled")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.stat().st_mode & 0o777 == 0o600


def test_where_nothing_can_be_written_a_hook_goes_on(tmp_path: Path) -> None:
    _note(tmp_path / "not there")
    assert not (tmp_path / "not there").exists()
    (tmp_path / "state").write_text("a file stands here")
    _note(tmp_path)
    assert hook_times.read(tmp_path, NOW_MS, 2.0) == ()
