"""Step 6: records as text that an agent reads, at the lowest token cost.

In: pages, timelines, records. Out: Markdown text, or rows without what is empty. All of it is pure.
May import: ``worker.contract``.
"""
