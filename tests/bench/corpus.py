"""Records to measure on: made from a seed, with the few common and many rare words that developers' texts have."""

import itertools
import random
from collections.abc import Iterator

from tests.factories import DAY, MINUTE, NOON, Row, observation_row, session_row
from worker.contract.transfer import ImportBatch

_SYLLABLES = ("ka", "ro", "mi", "te", "lu", "so", "ne", "pi", "da", "vo", "shi", "ran", "tor", "bel", "fen", "qui")
_COMMON_TEXT = """
cache token session index queue buffer router parser worker schema lock socket handler lexer cursor snapshot
retry timeout header cookie shard replica ledger payload secret policy quota bucket lease leader
"""
COMMON = _COMMON_TEXT.split()
_PER_SESSION = 10


def words(count: int, random_: random.Random) -> list[str]:
    """A vocabulary: the common words first, then made ones."""
    made = ("".join(parts) for parts in itertools.product(_SYLLABLES, repeat=3))
    rare = list(itertools.islice(made, count))
    random_.shuffle(rare)
    return COMMON + rare


def batches(records: int, seed: int = 7) -> Iterator[ImportBatch]:
    """So many observations, 500 a batch."""
    random_ = random.Random(seed)
    vocabulary = words(5_000, random_)

    def text(length: int) -> str:
        # Squaring makes the first words of the vocabulary common and the last ones rare.
        picked = (vocabulary[int(len(vocabulary) * random_.random() ** 4)] for _ in range(length))
        return " ".join(picked)

    for start in range(0, records, 500):
        sessions: dict[str, Row] = {}
        rows: list[Row] = []
        for number in range(start, min(start + 500, records)):
            name = str(number // _PER_SESSION)
            project = f"project-{int(name) % 12}"
            epoch = NOON - 300 * DAY + number * 4 * MINUTE
            sessions.setdefault(name, session_row(name, project=project, started_at_epoch=epoch))
            rows.append(
                observation_row(
                    text(7).capitalize(),
                    memory_session_id=f"m-{name}",
                    project=project,
                    narrative=text(90),
                    facts=[text(10) for _ in range(3)],
                    files_modified=[f"src/{text(1)}/{text(1)}.py"],
                    created_at_epoch=epoch,
                    discovery_tokens=random_.randrange(400, 20_000),
                )
            )
        yield ImportBatch(sessions=tuple(sessions.values()), observations=tuple(rows))


def questions(count: int, seed: int = 11) -> list[str]:
    """Questions of one to eight words."""
    random_ = random.Random(seed)
    vocabulary = words(5_000, random.Random(7))
    return [
        " ".join(vocabulary[int(len(vocabulary) * random_.random() ** 4)] for _ in range(1 + number % 8))
        for number in range(count)
    ]
