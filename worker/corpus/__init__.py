"""Chosen records as a knowledge base: built by a search, kept in a file, read by a model once and then asked.

In: an order, a question. Out: what is known of a corpus, an answer. May import ``search``, ``present``, ``store``,
``llm`` and ``contract``.

The files are the original's, so either program reads the other's. Without a model (the provider ``local``) a question
is answered with the records that fit it best. What was deleted from memory since is never told again.
"""
