"""What chromadb imports and never uses here, and a process that holds vectors is spared: 17 MB and 100 ms of CPU."""

import sys
from types import ModuleType

_COMMAND_LINE = "httpx._main"
"""With rich, click and pygments; httpx does without it where it cannot be imported."""
_EXPORTER = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"
"""With grpc and protobuf; it would tell others what Chroma does, which it is told not to do."""


class _Unused(ModuleType):
    """Has whatever is asked of it, as nothing is done with it."""

    def __getattr__(self, name: str) -> type[object]:
        if name.startswith("__"):
            raise AttributeError(name)
        return object


def spare() -> None:
    """From now on nothing imports it. To be called before chromadb is imported, in a process that is for it alone."""
    sys.modules.setdefault(_COMMAND_LINE, None)  # type: ignore[arg-type]
    sys.modules.setdefault(_EXPORTER, _Unused(_EXPORTER))
