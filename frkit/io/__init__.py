"""Files in, Datasets out. Nothing here ever unpickles a file."""

from frkit.io.embeddings import open_faces
from frkit.io.matrices import read_matrix

__all__ = ["open_faces", "read_matrix"]
