"""Step 3: SQLite, the source of truth. All SQL is here.

In: records to keep, questions by key, time, filter and word. Out: rows, ranked keys, counts; and what changed, told
after commit. The file is the original's, table for table; what we add to it has names that begin with ``py_``.
May import: ``worker.contract``.
"""
