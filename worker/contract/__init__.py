"""The published language: wire models, calls, clients, settings, token estimate.

In: nothing. Out: all that a front end may import of the worker.
May import: the standard library, msgspec, and httpx in ``client`` alone.
"""
