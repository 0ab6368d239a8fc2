"""The tools: what agents are told about them, and the question to the worker behind each.

In: a tool's name and what the agent sent. Out: text.
May import: ``worker.contract``, ``mcp_bridge.workflow``; ``arguments`` and ``tool`` do not know ``table``.
"""
