"""Pure: the ONNX model of a product of bits and whole numbers (``Multiply``), for whoever runs such models anyway.

numpy multiplies whole numbers one by one, onnxruntime 64 at a time where the processor can.
"""

from worker.projection.lighter import message, varint

BITS, DIGITS, JOIN, PRODUCT = "bits", "digits", "join", "product"
"""What it is given, and what it gives."""

_FLOAT, _UINT8, _INT8 = 1, 2, 3
_INTEGER = 2
"""Of an attribute's kinds."""
_IR_VERSION, _OPSET = 8, 13


def model() -> bytes:
    """The file."""
    nodes = (
        _node("MatMulInteger", [BITS, DIGITS], "sums"),
        _node("Cast", ["sums"], "floats", _attribute("to", _FLOAT)),
        _node("MatMul", ["floats", JOIN], PRODUCT),
    )
    given = (_matrix(BITS, _UINT8), _matrix(DIGITS, _INT8), _matrix(JOIN, _FLOAT))
    graph = b"".join(
        (
            *(message(1, node) for node in nodes),
            message(2, b"product"),
            *(message(11, each) for each in given),
            message(12, _matrix(PRODUCT, _FLOAT)),
        )
    )
    return b"".join((_number(1, _IR_VERSION), message(7, graph), message(8, _number(2, _OPSET))))


def _node(operation: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    parts = [message(1, each.encode()) for each in inputs]
    more = [message(5, attribute)] if attribute else []
    return b"".join([*parts, message(2, output.encode()), message(4, operation.encode()), *more])


def _attribute(name: str, value: int) -> bytes:
    return b"".join((message(1, name.encode()), _number(3, value), _number(20, _INTEGER)))


def _matrix(name: str, kind: int) -> bytes:
    """What is given or comes out, of any two lengths."""
    shape = b"".join(message(1, message(2, f"{name}_{side}".encode())) for side in ("rows", "columns"))
    tensor = _number(1, kind) + message(2, shape)
    return message(1, name.encode()) + message(2, message(1, tensor))


def _number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)
