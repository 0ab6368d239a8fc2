"""Pure: what is to be written, in the form that an index can hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from worker.contract.errors import Unavailable
from worker.projection.embed import Vector
from worker.projection.index import Fragment, Value


def fitting(fragments: Sequence[Fragment], dimension: int) -> list[Fragment]:
    """The fragments, each id once: its last. Errors: ``Unavailable`` naming the one that cannot be written."""
    latest = {fragment.id: fragment for fragment in fragments}
    for fragment in latest.values():
        if fragment.vector.shape != (dimension,):
            raise Unavailable(
                f"the vector of {fragment.id} has the shape {fragment.vector.shape}; this collection holds vectors "
                f"of {dimension} numbers"
            )
        if not np.isfinite(fragment.vector).all():
            raise Unavailable(f"the vector of {fragment.id} holds what is not a number")
        if not fragment.id or fragment.id != _sendable(fragment.id):
            raise Unavailable(f"{fragment.id!r} is no id of a document")
    return [replace(fragment, metadata=_held(fragment.metadata)) for fragment in latest.values()]


def can_be_near(vector: Vector, dimension: int) -> bool:
    """Whether anything can be near to a vector. Errors: ``Unavailable`` when it is of another dimension."""
    if vector.shape != (dimension,):
        raise Unavailable(f"a question of the shape {vector.shape} does not fit vectors of {dimension} numbers")
    return bool(np.isfinite(vector).all() and vector.any())


def _held(metadata: Mapping[str, Value]) -> dict[str, Value]:
    held: dict[str, Value] = {}
    for key, value in metadata.items():
        if isinstance(value, str):
            held[key] = _sendable(value)
        elif isinstance(value, float) and not math.isfinite(value):
            continue
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            held[key] = str(value)
        else:
            held[key] = value
    return held


def _sendable(text: str) -> str:
    """Without halves of surrogate pairs, which end a call."""
    return text.encode("utf-8", "replace").decode("utf-8")
