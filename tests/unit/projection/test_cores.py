"""Who moves to which core; what the system does is written down in place of being done."""

import os
import sys
import threading
from collections.abc import Set

import pytest

from tests.processes import PATIENCE_S
from worker.projection import semantic
from worker.projection.cores import Apart, Linux
from worker.projection.hashing import Hashing
from worker.projection.semantic import Semantics, Serving

SELF = 0


class Machine:
    """Cores, where the one thread is that asks, and which it was allowed."""

    def __init__(self, *cores: int, on: int) -> None:
        self.cores, self.on = set(cores), on
        self.told: list[tuple[int, set[int]]] = []
        self.now_s = self.worked_s = 0.0

    def current(self) -> int:
        return self.on

    def allowed(self) -> set[int]:
        return set(self.cores)

    def allow(self, thread: int, cores: Set[int]) -> None:
        self.told.append((thread, set(cores)))

    def apart(self) -> Apart:
        return Apart(self, clock=lambda: self.now_s, worked=lambda: self.worked_s)


def thought(apart: Apart, machine: Machine, wait_s: float = 0.0, work_s: float = 0.008) -> None:
    """A question from its call to its end."""
    apart.call()
    apart.begin()
    machine.now_s += wait_s + work_s
    machine.worked_s += work_s
    apart.end()


def test_the_model_is_woken_on_the_second_core_and_may_be_anywhere_then() -> None:
    machine = Machine(2, 5, on=5)
    apart = machine.apart()
    thought(apart, machine)  # the first shows which thread it is
    assert machine.told == []
    apart.call()
    assert machine.told == [(threading.get_native_id(), {5})]
    apart.begin()
    assert machine.told[1:] == [(SELF, {2, 5})]


def test_who_is_on_its_core_goes_to_the_other_and_may_come_back() -> None:
    machine = Machine(0, 1, on=1)
    apart = machine.apart()
    for _ in range(2):
        thought(apart, machine)
    machine.told.clear()
    apart.leave()
    assert machine.told == [(SELF, {0}), (SELF, {0, 1})]


def test_who_is_on_the_other_stays_there() -> None:
    machine = Machine(0, 1, on=1)
    apart = machine.apart()
    for _ in range(2):
        thought(apart, machine)
    machine.told.clear()
    machine.on = 0
    apart.leave()
    assert machine.told == []


def test_a_question_that_was_called_is_begun_anywhere_though_the_next_one_changed_its_mind() -> None:
    machine = Machine(0, 1, on=1)
    apart = machine.apart()
    thought(apart, machine)
    apart.call()
    machine.cores = {0, 1, 2}  # somebody gave us another one
    apart.call()
    machine.told.clear()
    apart.begin()
    assert machine.told == [(SELF, {0, 1})]


@pytest.mark.parametrize("cores", [(), (0,), (0, 1, 2)])
def test_of_one_core_or_many_nobody_is_sent_anywhere(cores: tuple[int, ...]) -> None:
    machine = Machine(*cores, on=0)
    apart = machine.apart()
    for _ in range(3):
        thought(apart, machine)
        apart.leave()
    assert machine.told == []


def test_what_waits_long_twice_in_a_row_is_let_alone_for_a_while() -> None:
    machine = Machine(0, 1, on=1)
    apart = machine.apart()
    thought(apart, machine)
    for wait_s in (0.02, 0.0, 0.02, 0.0, 0.02, 0.02):
        machine.told.clear()
        thought(apart, machine, wait_s)
        assert machine.told
    machine.told.clear()
    thought(apart, machine)
    apart.leave()
    assert machine.told == []
    machine.now_s += 60
    thought(apart, machine)
    assert machine.told


def test_to_work_long_is_not_to_wait_long() -> None:
    machine = Machine(0, 1, on=1)
    apart = machine.apart()
    for _ in range(9):
        machine.told.clear()
        thought(apart, machine, work_s=0.5)
    assert machine.told


def test_questions_are_thought_about_on_one_core_and_read_for_on_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(0, 1, on=1)
    monkeypatch.setattr(semantic, "Linux", lambda: machine)
    semantics = Semantics(lambda: Serving(Hashing(), "hash-v1", None))
    try:
        semantics.think("one").result(PATIENCE_S)
        assert machine.told == []
        semantics.think("another").result(PATIENCE_S)
        assert [cores for _, cores in machine.told] == [{1}, {0, 1}]
        semantics.think("another").result(PATIENCE_S)  # it is known by now: nobody is woken
        semantics.work_beside()
        assert machine.told[2:] == [(SELF, {0}), (SELF, {0, 1})]
    finally:
        semantics.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing can be told")
def test_what_linux_says() -> None:
    system = Linux()
    cores = system.allowed()
    assert cores == os.sched_getaffinity(0)
    one = min(cores)
    try:
        system.allow(SELF, {one})
        assert (system.allowed(), system.current()) == ({one}, one)
    finally:
        system.allow(SELF, cores)
    assert system.allowed() == cores
    system.allow(SELF, {10_000})  # no such core
    assert system.allowed() == cores
