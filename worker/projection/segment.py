"""Whether the files of an HNSW graph fit together.

Chroma reads them without looking: what does not fit ends the process by a signal, or makes a later write go on for
ever. The form is that of chromadb 1.5.9 (hnswlib's, little-endian); files that say they are of another are let pass.
"""

import struct
from pathlib import Path

import numpy as np

_VERSION = 1
_HEAD = struct.Struct("<i6QiI3QdQ")
_LEVEL0, _LINKS = "data_level0.bin", "link_lists.bin"


def fault(folder: Path) -> str:
    """What is wrong with a segment's folder, empty when nothing is. Errors: ``OSError``."""
    head_bytes = (folder / "header.bin").read_bytes()
    if len(head_bytes) < _HEAD.size:
        return "header.bin is cut short"
    head = _HEAD.unpack_from(head_bytes)
    version, _, most, held, element_bytes, label_at, vector_at = head[:7]
    top_level, entry, most_upper, most_ground = head[7:11]
    if version != _VERSION:
        return ""
    if held > most or label_at > element_bytes or vector_at > element_bytes or most_ground < most_upper:
        return "header.bin is garbled"
    if not held:
        return ""
    if entry >= held or not 0 <= top_level < 64:
        return "header.bin is garbled"
    if (folder / _LEVEL0).stat().st_size < held * element_bytes:
        return f"{_LEVEL0} is cut short"
    return _ground(folder / _LEVEL0, held, element_bytes, most_ground) or _upper(folder / _LINKS, held, most_upper)


def _ground(file: Path, held: int, element_bytes: int, most: int) -> str:
    """Each element begins with a count of neighbours (16 bits), flags (16 bits) and a number each (32 bits)."""
    if element_bytes < 4 + 4 * most:
        return "header.bin is garbled"
    elements = np.memmap(file, np.uint8, "r", shape=(held, element_bytes))
    counts = np.ascontiguousarray(elements[:, :2]).view("<u2")
    neighbours = np.ascontiguousarray(elements[:, 4 : 4 + 4 * most]).view("<u4")
    used = np.arange(most) < counts
    if (counts > most).any() or (neighbours[used] >= held).any():
        return f"{_LEVEL0} is garbled"
    return ""


def _upper(file: Path, held: int, most: int) -> str:
    """For each element the bytes of its lists, then the lists, one for each upper level: a count and places for all."""
    words = np.frombuffer(file.read_bytes()[: file.stat().st_size // 4 * 4], "<u4")
    list_words, at = most + 1, 0
    for _ in range(held):
        if at >= len(words):
            return f"{_LINKS} is cut short"
        size = int(words[at])
        lists = words[at + 1 : at + 1 + size // 4]
        if size % (4 * list_words) or len(lists) < size // 4:
            return f"{_LINKS} is garbled"
        for each in lists.reshape(-1, list_words):
            count = int(each[0]) & 0xFFFF
            if count > most or (each[1 : 1 + count] >= held).any():
                return f"{_LINKS} is garbled"
        at += 1 + size // 4
    return ""
