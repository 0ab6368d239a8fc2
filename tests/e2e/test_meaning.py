"""Search by meaning as it comes out of the box: a real worker, the model of the installed package, a Chroma folder."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.factories import NOON, make_batch, observation_row
from tests.processes import PATIENCE_S, WorkerProcess, running_worker, start_worker, wait_for
from worker.contract import calls
from worker.contract.curation import Save
from worker.contract.index import IndexState, IndexStatus
from worker.contract.records import RecordKey, RecordKind
from worker.contract.search import Degraded, Mode, SearchPage, SearchQuery

MEANING = {"CLAUDE_MEM_CHROMA_ENABLED": "true"}
RECORDS = 20
MEMORIES = {
    "The staging certificate had run out": "TLS handshakes failed until it was renewed by hand.",
    "Passwords are hashed with argon2": "bcrypt was too slow to tune; old hashes are upgraded at sign-in.",
    "Kubernetes restarted the pod for lack of memory": "The limit was 128 MiB and the heap grew past it.",
    "Dark colours for the settings page": "The palette follows the system preference.",
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    data = tmp_path_factory.mktemp("home") / "memory"
    with running_worker(data, environ=MEANING) as running:
        for title, text in MEMORIES.items():
            running.quick.send(calls.save(Save(text=text, title=title, project="shop")))
        wait_for(lambda: complete(running))
        yield running


def status(worker: WorkerProcess) -> IndexStatus:
    return worker.quick.send(calls.index_status())


def complete(worker: WorkerProcess, records: int = len(MEMORIES)) -> bool:
    found = status(worker)
    return found.state is IndexState.READY and found.embedded == records and not found.pending


def search(worker: WorkerProcess, text: str, mode: Mode | None = None) -> SearchPage:
    """The answer. One that a model kept from running had no say in, though it is there, is asked for again."""

    def once() -> SearchPage | None:
        page = worker.quick.send(calls.search(SearchQuery(text=text, mode=mode)))
        late = page.degraded in (Degraded.INDEX_SLOW, Degraded.INDEX_FAILED)
        return None if late and status(worker).state is IndexState.READY else page

    page = wait_for(once)
    assert page is not None
    return page


def command(worker: WorkerProcess, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(worker.data_dir.parent),
        "CLAUDE_MEM_DATA_DIR": str(worker.data_dir),
        "CLAUDE_MEM_WORKER_PORT": str(worker.port),
        **MEANING,
    }
    line = (sys.executable, "-P", "-m", "worker.cli.main", *words)
    return subprocess.run(line, env=environ, capture_output=True, encoding="utf-8", timeout=60)


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("out of memory kill", "Kubernetes restarted the pod for lack of memory"),
        ("how do we store login secrets", "Passwords are hashed with argon2"),
        ("https broken because of expiry", "The staging certificate had run out"),
        ("night theme", "Dark colours for the settings page"),
    ],
)
def test_a_question_in_other_words_finds_its_record(worker: WorkerProcess, asked: str, title: str) -> None:
    page = search(worker, asked)
    assert (page.strategy, page.degraded) == ("hybrid", None)
    assert page.hits[0].title == title and page.hits[0].vector_rank == 1


def test_an_edit_and_a_deletion_reach_the_vectors(worker: WorkerProcess) -> None:
    saved = worker.quick.send(calls.save(Save(text="The hamster wheel squeaks at night.", title="Noise in the office")))
    wait_for(lambda: complete(worker, len(MEMORIES) + 1))
    assert search(worker, "rodent exercise equipment is loud").hits[0].title == "Noise in the office"
    worker.quick.send(calls.delete(RecordKey(RecordKind.OBSERVATION, saved.id)))
    titles = [hit.title for hit in search(worker, "rodent exercise equipment is loud").hits]
    assert "Noise in the office" not in titles
    wait_for(lambda: complete(worker))


def test_the_command_line_tells_mends_and_rebuilds(worker: WorkerProcess) -> None:
    told = command(worker, "index", "status")
    assert told.returncode == 0 and "4 of 4 records embedded" in told.stdout and "shop" in told.stdout
    assert json.loads(command(worker, "index", "status", "--json").stdout)["pending"] == 0
    wait_for(lambda: (found := status(worker)).chroma == "ready" and not found.unwritten)
    verified = command(worker, "index", "verify")
    assert "4 records compared" in verified.stdout
    assert (verified.returncode, "all is as it should be" in verified.stdout) == (0, True), verified.stdout
    assert command(worker, "index", "repair").returncode == 0
    assert command(worker, "index", "pause").stdout.startswith("index by meaning: paused")
    assert command(worker, "index", "resume").returncode == 0
    rebuilt = command(worker, "index", "rebuild", "--wait")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert "local: ready" in rebuilt.stdout, "it did not wait for Chroma"
    assert search(worker, "night theme").hits[0].vector_rank == 1
    bad = command(worker, "index", "status", "--embed-anew")
    assert bad.returncode == 2 and "rebuild" in bad.stderr


def test_chinese_records_of_before_are_all_embedded(tmp_path: Path) -> None:
    """R023."""
    titles = (
        "修复登录超时", "缓存失效导致页面变慢", "数据库迁移回滚", "令牌过期仍被接受", "搜索结果排序错误",
        "日志文件无限增长", "上传图片失败", "支付回调重复处理", "时区转换错误", "内存泄漏已修复",
        "权限检查缺失", "队列消息丢失", "证书到期未续签", "夜间主题颜色不对", "备份脚本没有运行",
    )  # fmt: skip
    data = tmp_path / "memory"
    with running_worker(data) as without:
        rows = [
            observation_row(title, narrative=f"{title}：原因是配置不当，现已解决。", created_at_epoch=NOON + at)
            for at, title in enumerate(titles)
        ]
        without.quick.send(calls.import_batch(make_batch(rows)))
        without.stop()
    with running_worker(data, environ=MEANING) as worker:
        wait_for(lambda: complete(worker, 15) and status(worker).chroma == "ready")
        found = status(worker)
        assert (found.model, found.failed, found.documents) == ("all-MiniLM-L6-v2-int8", 0, 15 * 3)
        for title in titles:
            hits = search(worker, title, Mode.SEMANTIC).hits
            assert title in [hit.title for hit in hits if hit.cosine is not None]
            assert search(worker, title).hits[0].title == title


def test_how_far_the_index_is_comes_on_the_stream(tmp_path: Path) -> None:
    """While it is built, and when it is complete."""

    async def heard(worker: WorkerProcess) -> list[IndexStatus]:
        frames: list[IndexStatus] = []
        async with asyncio.timeout(PATIENCE_S), worker.client() as client:
            async for event in client.events():
                if event.type == "connected":
                    await client.send(calls.import_batch(make_batch(rows)))
                if event.type == "index_status" and event.index is not None:
                    frames.append(event.index)
                    if event.index.records == RECORDS and not event.index.pending:
                        break
        return frames

    rows = [
        observation_row(f"record {n}", narrative=f"It was {n} again. " * 40, created_at_epoch=n) for n in range(RECORDS)
    ]
    with running_worker(tmp_path / "memory", environ=MEANING) as worker:
        wait_for(lambda: status(worker).state is IndexState.READY)
        frames = asyncio.run(heard(worker))
        at_work = [frame for frame in frames if frame.state is IndexState.CATCHING_UP]
        assert at_work and all(frame.pending and frame.embedded < RECORDS for frame in at_work), frames
        assert [frame.embedded for frame in frames] == sorted(frame.embedded for frame in frames)
        last = frames[-1]
        assert (last.state, last.records, last.embedded) == (IndexState.READY, RECORDS, RECORDS)
        assert last.covered == () and last == msgspec.structs.replace(
            status(worker), covered=(), documents=last.documents, unwritten=last.unwritten, chroma=last.chroma,
            rate_per_s=last.rate_per_s,
        )  # fmt: skip


def test_texts_stay_in_sqlite(worker: WorkerProcess) -> None:
    held = [file.read_bytes() for file in (worker.data_dir / "vectors").rglob("*") if file.is_file()]
    assert held and not any(b"bcrypt was too slow" in content for content in held)


def test_killed_and_started_again_it_answers_the_same_without_embedding_anew(tmp_path: Path) -> None:
    data = tmp_path / "memory"
    with running_worker(data, environ=MEANING) as first:
        for title, text in MEMORIES.items():
            first.quick.send(calls.save(Save(text=text, title=title, project="shop")))
        wait_for(lambda: complete(first))
        before = search(first, "night theme").hits
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with running_worker(data, environ=MEANING) as second:
        wait_for(lambda: complete(second))
        assert search(second, "night theme").hits == before
        wait_for(lambda: status(second).chroma == "ready")
        # Each memory has a title, a narrative and the whole.
        assert status(second).documents == 3 * len(MEMORIES)


@pytest.mark.parametrize("model", ["hash", "none", "http"])
def test_without_a_model_that_answers_words_do(tmp_path: Path, model: str) -> None:
    environ = MEANING | {"CLAUDE_MEM_EMBEDDING_MODEL": model, "CLAUDE_MEM_EMBEDDING_URL": "http://127.0.0.1:9/v1"}
    with running_worker(tmp_path / "memory", environ=environ) as worker:
        worker.quick.send(calls.save(Save(text="a certificate ran out", title="Expiry")))
        page = search(worker, "certificate")
        assert page.hits[0].title == "Expiry"
        if model == "none":
            assert page.degraded is Degraded.INDEX_OFF and status(worker).state is IndexState.OFF
        elif model == "http":
            wait_for(lambda: status(worker).state is IndexState.FAILED)
            assert search(worker, "certificate").degraded is Degraded.INDEX_FAILED
        else:
            wait_for(lambda: complete(worker, 1))
            assert search(worker, "certificate").strategy == "hybrid"


def test_a_broken_folder_is_made_again_from_the_kept_vectors(tmp_path: Path) -> None:
    """R048, R054."""
    data = tmp_path / "memory"
    environ = MEANING | {"CLAUDE_MEM_EMBEDDING_MODEL": "hash"}
    with running_worker(data, environ=environ) as worker:
        rows = [observation_row(f"record {at}", created_at_epoch=at) for at in range(1, 300)]
        worker.quick.send(calls.import_batch(make_batch(rows)))
        wait_for(lambda: complete(worker, 299))
        worker.process.send_signal(signal.SIGTERM)
        worker.wait()
    for file in (data / "vectors").rglob("*"):
        if file.is_file() and file.suffix in (".sqlite3", ".bin"):
            file.write_bytes(file.read_bytes()[:100])
    with running_worker(data, environ=environ) as worker:
        assert search(worker, "record 17").hits
        wait_for(lambda: complete(worker, 299) and status(worker).chroma == "ready")
        assert status(worker).documents == 2 * 299


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    """A file where the folder of Chroma should be."""
    data = tmp_path / "memory"
    data.mkdir()
    (data / "vectors").write_text("not a folder")
    with running_worker(data, environ=MEANING | {"CLAUDE_MEM_EMBEDDING_MODEL": "hash"}) as worker:
        worker.quick.send(calls.import_batch(make_batch([observation_row("one"), observation_row("two")])))
        wait_for(lambda: complete(worker, 2) and status(worker).chroma not in ("", "opening"))
        verified = command(worker, "index", "verify")
        assert verified.returncode == 1
        assert "0 records compared" in verified.stdout and "2 records that wait" in verified.stdout
        assert f"not compared: Chroma, {status(worker).chroma}" in verified.stdout
        assert "all is as it should be" not in verified.stdout


def test_the_port_is_open_before_the_model_is_loaded(tmp_path: Path) -> None:
    """R072."""
    worker = start_worker(tmp_path / "memory", environ=MEANING)
    try:
        wait_for(worker.ready)
        page = search(worker, "anything")
        assert page.degraded in (Degraded.INDEX_STARTING, None)
    finally:
        worker.process.kill()
        worker.wait()


@pytest.mark.parametrize(
    ("name", "value"), [("CHROMA_MODE", "cloudy"), ("CHROMA_PORT", "x"), ("EMBEDDING_MODEL", "bert")]
)
def test_settings_of_the_index_that_are_wrong_are_told_and_leave_the_rest_running(
    tmp_path: Path, name: str, value: str
) -> None:
    environ = MEANING | {"CLAUDE_MEM_EMBEDDING_MODEL": "hash", f"CLAUDE_MEM_{name}": value}
    with running_worker(tmp_path / "memory", environ=environ) as worker:
        worker.quick.send(calls.save(Save(text="a certificate ran out", title="Expiry")))
        assert search(worker, "certificate").hits[0].title == "Expiry"

        def told() -> bool:
            found = status(worker)
            return f"CLAUDE_MEM_{name} must be" in f"{found.reason} {found.chroma}"

        wait_for(told)


def test_what_is_to_be_done_to_an_index_waits_for_a_worker_that_starts(tmp_path: Path) -> None:
    with running_worker(tmp_path / "memory", environ=MEANING) as worker:
        verified = command(worker, "index", "verify")
    assert "records compared" in verified.stdout, verified.stderr
