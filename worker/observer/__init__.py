"""Step 2: what agents did becomes observations and summaries.

In: what the store's queue holds. Out: records in the store, and what they cost. May import ``store``, ``llm`` and
``contract``.

Without a model the rules of ``local`` make the records; ``runner`` takes the queue session by session, and nothing
leaves it but in the transaction that stores what was made of it.
"""
