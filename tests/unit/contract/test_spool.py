"""Events on disk."""

import json
import os
from pathlib import Path

import pytest

from worker.contract import spool

PATH = "/api/sessions/observations"


def put(folder: Path, moment_ns: int, tag: str = "a", **body: object) -> str:
    return spool.put(str(folder), PATH, body, moment_ns=moment_ns, tag=tag)


def test_what_is_put_comes_out_in_the_order_of_its_moments(tmp_path: Path) -> None:
    for moment_ns in (30, 4, 100_000_000_000):
        put(tmp_path, moment_ns, n=moment_ns)
    names = spool.waiting(str(tmp_path))
    assert [spool.read(str(tmp_path), name)[1]["n"] for name in names] == [4, 30, 100_000_000_000]


def test_two_of_one_moment_are_both_kept(tmp_path: Path) -> None:
    put(tmp_path, 5, "a")
    put(tmp_path, 5, "b")
    assert len(spool.waiting(str(tmp_path))) == 2


def test_an_event_is_the_owners_alone(tmp_path: Path) -> None:
    """R109: the text of a prompt waits there."""
    home = tmp_path / "new"
    name = put(home, 1, prompt="é\ud800")
    file = home / "spool" / name
    modes = [path.stat().st_mode & 0o777 for path in (home, home / "spool", file)]
    assert modes == [0o700, 0o700, 0o600]
    assert spool.read(str(home), name) == (PATH, {"prompt": "é\ud800"})


def test_nothing_half_written_counts(tmp_path: Path) -> None:
    put(tmp_path, 1)
    (tmp_path / "spool" / ".0002-b-3.json.77").write_text("{")
    assert len(spool.waiting(str(tmp_path))) == 1


def test_it_says_whether_anything_waits(tmp_path: Path) -> None:
    assert spool.is_empty(str(tmp_path))
    name = put(tmp_path, 1)
    assert not spool.is_empty(str(tmp_path))
    spool.drop(str(tmp_path), name)
    assert spool.is_empty(str(tmp_path))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"path": 1, "body": {}}', '{"path": "/x"}', "[" * 100_000])
def test_what_is_no_event_is_told_apart_and_set_aside(tmp_path: Path, content: str) -> None:
    name = put(tmp_path, 1)
    (tmp_path / "spool" / name).write_text(content)
    with pytest.raises(spool.Broken):
        spool.read(str(tmp_path), name)
    spool.set_aside(str(tmp_path), name, "why not")
    assert spool.is_empty(str(tmp_path))
    assert spool.set_aside_count(str(tmp_path)) == 1
    aside = tmp_path / "spool" / "broken"
    assert (aside / name).read_text() == content
    assert (aside / f"{name}.why").read_text() == "why not\n"


def test_it_is_bounded_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MOST_EVENTS", 2)
    put(tmp_path, 1)
    put(tmp_path, 2)
    with pytest.raises(spool.Full, match="2 events"):
        put(tmp_path, 3)
    monkeypatch.setattr(spool, "MOST_EVENTS", 9)
    monkeypatch.setattr(spool, "MOST_BYTES", 1000)
    with pytest.raises(spool.Full):
        put(tmp_path, 4, text="x" * 1000)
    assert len(spool.waiting(str(tmp_path))) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match=r"ermission"):
        put(tmp_path, 1)


def test_the_form_on_disk_is_the_call(tmp_path: Path) -> None:
    name = put(tmp_path, 7, n=1)
    content = (tmp_path / "spool" / name).read_bytes()
    assert json.loads(content) == {"path": PATH, "body": {"n": 1}}
    assert name == f"{7:020d}-a-{len(content)}.json"
