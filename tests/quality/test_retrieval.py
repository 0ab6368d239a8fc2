"""Search quality against a real worker, on retrieval sets that are not part of this repository."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import running_worker

SCORER = Path(__file__).parents[3] / "shared" / "retrieval" / "score.py"
BARS = {
    "locomo": (0.83, 0.71),
    "devmem": (0.94, 0.87),
    "devask": (0.88, 0.74),
    "cosqa": (0.56, 0.38),
    "cjk": (0.98, 0.96),
}
"""Recall@10 and nDCG@10 on the open halves: what the product was asked to reach by keyword alone."""

pytestmark = [
    pytest.mark.quality,
    pytest.mark.skipif(not SCORER.exists(), reason="the retrieval sets are not beside this checkout"),
]


def test_keyword_search_reaches_the_bars_with_all_sets_in_one_memory(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    with running_worker(tmp_path / "memory") as worker:
        for load in (["--load"], []):
            subprocess.run(
                [
                    sys.executable,
                    str(SCORER),
                    "--base",
                    f"http://127.0.0.1:{worker.port}",
                    "--half",
                    "open",
                    "--out",
                    str(scores),
                    *load,
                ],
                check=True,
                timeout=500,
            )
    reached = {name: (score["R@10"], score["nDCG@10"]) for name, score in json.loads(scores.read_text()).items()}
    assert {name for name in BARS if reached[name][0] < BARS[name][0] or reached[name][1] < BARS[name][1]} == set(), (
        reached
    )
