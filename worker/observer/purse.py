"""What the observer may still spend, asked of the store before each question."""

from worker.contract.observer_settings import Observing
from worker.llm import budget
from worker.llm.budget import Budget, Spending
from worker.observer.patience import Pause
from worker.store import spend
from worker.store.tables import Store


async def day_is_over(store: Store, observing: Observing, now_epoch_ms: int) -> Pause | None:
    """Why nothing more is asked on this day, None where it may be."""
    if not observing.day_tokens:
        return None
    spent = await store.read(lambda connection: spend.of_day(connection, now_epoch_ms))
    if not budget.day_is_over(Budget(observing.day_tokens), Spending(spent)):
        return None
    told = f"the budget of this day is spent: {spent} of {observing.day_tokens} tokens"
    return Pause(told, spend.next_day_epoch_ms(now_epoch_ms))


async def session_is_over(store: Store, observing: Observing, session_db_id: int) -> bool:
    """Whether nothing more is asked for a session."""
    if not observing.session_tokens:
        return False
    spent = await store.read(lambda connection: spend.of_session(connection, session_db_id))
    return budget.session_is_over(Budget(session_tokens=observing.session_tokens), Spending(session_tokens=spent))


async def is_empty(store: Store, observing: Observing, session_db_id: int, now_epoch_ms: int) -> bool:
    """Whether the next question would be one too many."""
    if await day_is_over(store, observing, now_epoch_ms) is not None:
        return True
    return await session_is_over(store, observing, session_db_id)
