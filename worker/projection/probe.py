"""Looks into a folder of vectors in a process of its own: a broken file ends that one and not the worker.

`python -m worker.projection.probe FOLDER MODEL DIMENSION` ends with 0 when the folder can be used, 3 when it is broken
and 4 when it may be whole but cannot be used now (a full disk, no permission); why is the last line it prints.
"""

import signal
import subprocess
import sys
from pathlib import Path

from worker.contract.errors import Unavailable
from worker.projection import segment
from worker.projection.collection import Shape
from worker.projection.folder import lent

_BROKEN, _UNUSABLE = 3, 4
_NOT_ITS_FAULT = ("code: 5)", "code: 6)", "code: 8)", "code: 13)", "code: 14)", "permission denied", "no space left")


def fault(folder: Path, shape: Shape, most_s: float) -> str:
    """What is wrong with a folder, empty when nothing is.

    most_s: after which it is broken too. Errors: ``Unavailable`` when the folder is not to blame.
    """
    command = [sys.executable, "-P", "-m", __name__, str(folder), shape.model, str(shape.dimension)]
    try:
        # Beside the folder, where no `.env` of a project is, which chromadb would read.
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=most_s, cwd=folder.parent, check=False
        )
    except subprocess.TimeoutExpired:
        return f"looking into it took more than {most_s:g} s"
    except OSError as error:
        raise Unavailable(f"no process could be started to look into the vectors: {error.strerror}") from error
    said = (done.stdout.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return ""
    if done.returncode == _BROKEN:
        return said
    if done.returncode < 0:
        return f"looking into it ended by {signal.Signals(-done.returncode).name}"
    if done.returncode == _UNUSABLE:
        raise Unavailable(said)
    raise Unavailable(f"looking into the vectors failed with exit code {done.returncode}")


def look(folder: Path, shape: Shape) -> str:
    """What is wrong with a folder, empty when nothing is. May end the process."""
    # 650 ms, which the parent does not wait for when it imports this module for ``fault``.
    from worker.projection import chroma

    for header in folder.glob("*/header.bin"):
        if wrong := segment.fault(header.parent):
            return wrong
    index = chroma.open_folder(lent(folder), shape, "of the probe")
    index.check()
    index.close()
    return ""


def main(words: list[str]) -> int:
    """The exit code."""
    folder, model, dimension = words
    try:
        wrong = look(Path(folder), Shape(model, int(dimension)))
    except (Unavailable, OSError) as error:
        wrong = str(error)
    sys.stdout.write(f"{wrong}\n")
    if any(sign in wrong.lower() for sign in _NOT_ITS_FAULT):
        return _UNUSABLE
    return _BROKEN if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
