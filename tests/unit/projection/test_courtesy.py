"""Work in the background waits for questions, and not for ever."""

import threading

from worker.projection.courtesy import Courtesy


async def test_nobody_asks_and_nobody_waits() -> None:
    courtesy = Courtesy(clock=lambda: 0.0)  # by which a wait would never end
    await courtesy.make_way()
    courtesy.give_way()


def test_a_thread_waits_while_a_question_is_new_and_is_let_go_at_the_end() -> None:
    courtesy = Courtesy(clock=lambda: 0.0)
    courtesy.told()
    thread = threading.Thread(target=courtesy.give_way, daemon=True)
    thread.start()
    thread.join(0.5)
    assert thread.is_alive()
    courtesy.end()
    thread.join(60)
    assert not thread.is_alive()


async def test_under_steady_questions_work_goes_on() -> None:
    looks = 0

    def clock() -> float:
        """Whenever somebody looks, another question has just begun."""
        nonlocal looks
        looks += 1
        if looks % 2:
            courtesy.told()
        return looks / 20

    courtesy = Courtesy(clock)
    courtesy.told()
    await courtesy.make_way()
    courtesy.give_way()
    assert looks > 4
