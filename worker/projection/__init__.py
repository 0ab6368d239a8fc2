"""Step four: the index by meaning, rebuildable from the store.

In: changes of records, from the store's feed. Out: each record's vectors, kept in the store's own table and, for quick
search over many, in Chroma. SQLite is the truth: Chroma's folder can be deleted and is filled again without embedding
anything anew.

Chroma and the model are imported after the port is open, on threads of their own; nothing here is waited for by a
search for longer than a moment. May import the contract and the store.
"""
