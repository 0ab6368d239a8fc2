"""Agents that call us by hooks: a module for each turns its JSON into an ``Input`` and a ``Reply`` into its JSON.

In: what the agent wrote to standard input. Out: one JSON object. May import: ``worker.contract``'s light modules. Hooks
import it, so everything here knows the standard library alone.
"""
