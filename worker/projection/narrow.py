"""Pure: an ONNX model that unpacks the words it is asked for, instead of all that it knows.

The default model's file holds a byte for each number, and a scale for each word. onnxruntime multiplies the table of
words out when it loads it: 47 MB of the 90 that it takes, of which a text needs some kilobytes. Here the rows are taken
first and multiplied afterwards, which gives the same numbers.

A model is a message of protocol buffers (onnx.proto), of which this reads as much as it changes.
"""

from collections.abc import Iterable, Iterator

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


def narrow(model: bytes) -> bytes:
    """The same model; one without such tables as it is. model: whole and valid, or the answer is worth nothing."""
    return b"".join(
        _message(_GRAPH, _narrowed(held)) if number == _GRAPH else whole
        for number, held, whole in _fields(memoryview(model))
    )


def _narrowed(graph: memoryview) -> bytes:
    """Rows of (bytes × scales) become rows of bytes × rows of scales."""
    made = {output: held for number, held, _ in _fields(graph) if number == _NODE for output in _names(held, _OUTPUT)}
    instead: dict[bytes, list[bytes]] = {}
    for gather in made.values():
        if _operation(gather) != b"Gather":
            continue
        table, rows = _names(gather, _INPUT)
        product = made.get(table)
        if product is None or _operation(product) != b"Mul":
            continue
        numbers, scales = _names(product, _INPUT)
        cast = made.get(numbers)
        if cast is None or _operation(cast) != b"Cast" or _uses(made.values(), {table, numbers}) != 2:
            continue
        (taken,) = _names(gather, _OUTPUT)
        instead |= {table: [], numbers: []}
        instead[taken] = [
            _renamed(gather, [*_names(cast, _INPUT), rows], taken + b"_bytes"),
            _renamed(cast, [taken + b"_bytes"], taken + b"_numbers"),
            _renamed(gather, [scales, rows], taken + b"_scales"),
            _renamed(product, [taken + b"_numbers", taken + b"_scales"], taken),
        ]
    return b"".join(_kept(graph, instead))


def _kept(graph: memoryview, instead: dict[bytes, list[bytes]]) -> Iterator[bytes | memoryview]:
    for number, held, whole in _fields(graph):
        outputs = _names(held, _OUTPUT) if number == _NODE else []
        if outputs and outputs[0] in instead:
            yield from (_message(_NODE, node) for node in instead[outputs[0]])
        else:
            yield whole


def _uses(nodes: Iterable[memoryview], names: set[bytes]) -> int:
    return sum(name in names for node in nodes for name in _names(node, _INPUT))


def _names(node: memoryview, which: int) -> list[bytes]:
    return [bytes(held) for number, held, _ in _fields(node) if number == which]


def _operation(node: memoryview) -> bytes:
    return b"".join(_names(node, _OPERATION))


def _renamed(node: memoryview, inputs: list[bytes], output: bytes) -> bytes:
    """A node that does the same with others; without a name of its own, which two would share."""
    rest = [whole for number, _, whole in _fields(node) if number not in (_INPUT, _OUTPUT, _NAME)]
    return b"".join([*(_message(_INPUT, name) for name in inputs), _message(_OUTPUT, output), *rest])


def _message(number: int, held: bytes | memoryview) -> bytes:
    return b"".join((_varint(number << 3 | _LENGTH), _varint(len(held)), held))


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


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
