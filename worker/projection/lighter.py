"""Pure: an ONNX model that gives the same numbers with less memory and less work.

The default model's file holds a byte for each number, and a scale for each word. onnxruntime multiplies the table of
words out when it loads it: 47 MB of the 90 that it takes, of which a text needs some kilobytes. Here the rows are taken
first and multiplied afterwards.

And after each softmax the file replaces what is no number, which there is where a token may look at none: every text
has tokens, and those around it. Looking for it takes a seventh of the CPU of a text of 256 tokens.

A model is a message of protocol buffers (onnx.proto), of which this reads as much as it changes.
"""

from collections.abc import Iterator, Mapping, Sequence

_GRAPH = 7
"""Of a model."""
_NODE = 1
"""Of a graph."""
_INPUT, _OUTPUT, _NAME, _OPERATION = 1, 2, 3, 4
"""Of a node."""
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_SIZES = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}

_Field = tuple[int, memoryview, memoryview]
"""Its number, what it holds, and all of it, the head included."""


def lighter(model: bytes) -> bytes:
    """The same model; one that has nothing of the kind as it is. model: whole and valid, or nothing is."""
    return b"".join(
        message(_GRAPH, b"".join(_lighter(held))) if number == _GRAPH else whole
        for number, held, whole in _fields(memoryview(model))
    )


def _lighter(graph: memoryview) -> Iterator[bytes | memoryview]:
    made = {output: held for number, held, _ in _fields(graph) if number == _NODE for output in _names(held, _OUTPUT)}
    instead, same = _narrow(made), _unguarded(made)
    for number, held, whole in _fields(graph):
        outputs, inputs = (_names(held, _OUTPUT), _names(held, _INPUT)) if number == _NODE else ([], [])
        if outputs and outputs[0] in instead:
            yield from (message(_NODE, node) for node in instead[outputs[0]])
        elif outputs and outputs[0] in same:
            continue
        elif any(name in same for name in inputs):
            yield message(_NODE, _renamed(held, [same.get(name, name) for name in inputs], outputs))
        else:
            yield whole


def _narrow(made: Mapping[bytes, memoryview]) -> dict[bytes, list[bytes]]:
    """Nodes in place of some, by what these make: rows of (bytes × scales) are rows of bytes × rows of scales."""
    instead: dict[bytes, list[bytes]] = {}
    for gather in _all(made, b"Gather"):
        table, rows = _names(gather, _INPUT)
        product = made.get(table)
        if product is None or _operation(product) != b"Mul":
            continue
        numbers, scales = _names(product, _INPUT)
        cast = made.get(numbers)
        if cast is None or _operation(cast) != b"Cast" or _uses(made, {table, numbers}) != 2:
            continue
        (taken,) = _names(gather, _OUTPUT)
        instead |= {table: [], numbers: []}
        instead[taken] = [
            _renamed(gather, [*_names(cast, _INPUT), rows], [taken + b"_bytes"]),
            _renamed(cast, [taken + b"_bytes"], [taken + b"_numbers"]),
            _renamed(gather, [scales, rows], [taken + b"_scales"]),
            _renamed(product, [taken + b"_numbers", taken + b"_scales"], [taken]),
        ]
    return instead


def _unguarded(made: Mapping[bytes, memoryview]) -> dict[bytes, bytes]:
    """What needs not be made, and what is the same: a softmax, and what it is when something else is put for NaN."""
    same: dict[bytes, bytes] = {}
    for where in _all(made, b"Where"):
        asked, _, kept = _names(where, _INPUT)
        test, softmax = made.get(asked), made.get(kept)
        if test is None or softmax is None or (_operation(test), _operation(softmax)) != (b"IsNaN", b"Softmax"):
            continue
        if _names(test, _INPUT) == [kept] and _uses(made, {asked}) == 1:
            same |= {asked: kept, _names(where, _OUTPUT)[0]: kept}
    return same


def _all(made: Mapping[bytes, memoryview], operation: bytes) -> Iterator[memoryview]:
    return (node for node in made.values() if _operation(node) == operation)


def _uses(made: Mapping[bytes, memoryview], names: set[bytes]) -> int:
    return sum(name in names for node in made.values() for name in _names(node, _INPUT))


def _names(node: memoryview, which: int) -> list[bytes]:
    return [bytes(held) for number, held, _ in _fields(node) if number == which]


def _operation(node: memoryview) -> bytes:
    return b"".join(_names(node, _OPERATION))


def _renamed(node: memoryview, inputs: Sequence[bytes], outputs: Sequence[bytes]) -> bytes:
    """A node that does the same with others; without a name of its own, which two would share."""
    given = [message(_INPUT, name) for name in inputs] + [message(_OUTPUT, name) for name in outputs]
    return b"".join([*given, *(whole for number, _, whole in _fields(node) if number not in (_INPUT, _OUTPUT, _NAME))])


def message(number: int, held: bytes | memoryview) -> bytes:
    """A field that holds so many bytes."""
    return b"".join((varint(number << 3 | _LENGTH), varint(len(held)), held))


def _fields(message: memoryview) -> Iterator[_Field]:
    at = 0
    while at < len(message):
        head, start = _read(message, at)
        number, kind = head >> 3, head & 7
        if kind == _LENGTH:
            size, start = _read(message, start)
            end = start + size
        else:
            end = _read(message, start)[1] if kind == _VARINT else start + _SIZES[kind]
        yield number, message[start:end], message[at:end]
        at = end


def _read(message: memoryview, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def varint(value: int) -> bytes:
    """A number, not below 0."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
