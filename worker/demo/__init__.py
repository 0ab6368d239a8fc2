"""The demo memory: believable records of invented projects, for someone who has no memory of their own yet.

In: a moment and a time zone. Out: an import batch that ends shortly before that moment.
One JSON file holds one project; days and hours in it are relative, so that the memory is always fresh.
May import: ``worker.contract`` only.
"""
