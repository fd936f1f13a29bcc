"""Damage in an HDF5 file at which HDF5's library would loop for ever, found before it reads."""

import mmap
import struct

from frkit.base import require

# Text of any length is stored in global heaps (HDF5 file format, version 3, section III.E): a
# header, then objects one behind the other, each with a header that contains its number and size.
# Number 0 is free space. Where damage makes that 0 bytes long, the library stays there for ever.
HEAP = b"GCOL\x01\0\0\0"
HEAP_HEADER = 16
OBJECT = struct.Struct("<H6xQ")  # number and size, between them links and nothing


def check_heaps(path) -> None:
    """Refuse an HDF5 file with a heap of text that is damaged."""
    with open(path, "rb") as file:
        if file.seek(0, 2) == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
            place = contents.find(HEAP)
            while place >= 0:
                require(
                    _is_whole(contents, place),
                    f"text in the file is damaged (heap at byte {place}): copy or write the file "
                    "again",
                )
                place = contents.find(HEAP, place + len(HEAP))


def _is_whole(contents, place):
    """Whether a heap lies in the file, and its objects one behind the other in the heap."""
    heap_size = int.from_bytes(contents[place + 8 : place + HEAP_HEADER], "little")
    end = place + heap_size
    if end > len(contents):
        return False
    place += HEAP_HEADER
    while end - place >= OBJECT.size:
        number, size = OBJECT.unpack_from(contents, place)
        if number > 0:
            size = OBJECT.size + -(-size // 8) * 8
        if size == 0 or place + size > end:
            return False
        place += size
    return True
