"""A small file with a text."""

import gzip


def put(folder, name, text):
    """Write a file, compressed where its name says so."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path
