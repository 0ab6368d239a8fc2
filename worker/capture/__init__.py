"""Step 1: what agents did is accepted, cleaned once more, and kept until an observer has made records of it.

In: events of ``worker.contract.capture``, by HTTP or from the spool. Out: prompts, and tool uses that wait. May import:
``worker.store``, ``worker.contract``.
"""
