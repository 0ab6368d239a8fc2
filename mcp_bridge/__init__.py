"""A stdio MCP server that translates between an agent's client and the worker; it holds no logic of its own.

In: MCP requests. Out: the text the worker presents.
May import: ``worker.contract`` and nothing else of the worker.
"""
