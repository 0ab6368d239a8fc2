"""Readers of memories that lie elsewhere: a database of claude-mem, or an export.

In: a path. Out: rows with the original's column names, one by one, and what could not be read as one.
May import: ``worker.contract``; ``database`` also sqlite3, because another program's file is no worker's business.
"""
