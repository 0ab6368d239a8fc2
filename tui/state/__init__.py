"""View state: what is known and what is shown, plain and pure.

Facts, needs and all parts of the state are frozen ``msgspec.Struct``s, as the contract's models are, where a dataclass
would do as well: there are some 140 of them, and a dataclass costs a third of a millisecond when it is imported. The
first paint would wait 45 ms for that, a tenth of its time; and a state with a change (``msgspec.structs.replace``) is
made in 1 µs instead of 40. May import: ``worker.contract``.
"""
