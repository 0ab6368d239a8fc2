"""The terminal app: search, timeline and preview over the worker's endpoints.

In: keys, and what the worker answers and streams. Out: a screen.
May import: ``worker.contract`` and nothing else of the worker.
"""
