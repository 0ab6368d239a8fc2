"""Step 5: a question to a ranking, a moment to a timeline.

In: ``contract.search`` questions. Out: pages of entries, timelines, facets; what was degraded is named.
What computes is pure; ``engine`` alone reads the store.
May import: ``worker.store``, ``worker.contract``.
"""
