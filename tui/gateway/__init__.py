"""The only user of the worker's client: calls and the stream, as facts.

Every question answers with a fact, also when the worker does not answer: a ``MemError`` never gets past here.
``front`` has one part for each topic; a new topic is a module with a class that asks over the ``Line``, and a line in
``front``. May import: ``tui.state``, ``worker.contract``.
"""
