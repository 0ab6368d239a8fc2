"""The sidecar that owns the memory.

In: what agents did, and questions. Out: records, rankings, timelines, a live stream.
SQLite is the truth; everything else can be built again from it.
May import: nothing of ``tui`` or ``mcp_bridge``. Those two import ``worker.contract`` only.
"""
