"""What a sweep has found so far: kept pairs beyond what memory should hold, and a state from which it can go on."""

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock

import numpy as np

from frkit.base import require, writing

NOTE = "evaluation.txt"
LAYOUT = "layout 2: "  # of the files; in front of the note, it tells a checkpoint of another version


class Stored:
    """Kept pairs in a file, read whenever they are unpacked as rows, columns and scores."""

    def __init__(self, store: "Store", place: int, n: int, kind: np.dtype) -> None:
        self.store, self.place, self.n, self.kind = store, place, n, kind

    def __iter__(self):
        with self.store.reading:
            self.store.file.seek(self.place)
            return iter([np.fromfile(self.store.file, kind, self.n) for kind in (np.int32, np.int32, self.kind)])


@dataclass(eq=False)
class Checkpoint:
    """A folder from which an interrupted evaluation goes on; its sweeps are numbered, for they follow one another."""

    folder: Path
    n_sweeps: int = 0

    @classmethod
    def of(cls, folder: str | os.PathLike, fingerprint: str) -> "Checkpoint":
        """The folder, made where there is none, for the evaluation with this fingerprint; half-written files go."""
        folder = Path(folder)
        usable = not folder.exists() or folder.is_dir()
        require(usable, f"checkpoint must name a folder, but {str(folder)!r} is a file; name a new folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for part in folder.glob("*.part"):
                part.unlink()
            note = folder / NOTE
            known = note.read_text() if note.exists() else ""
            empty = not known and all(path == note for path in folder.iterdir())  # a full disk leaves an empty note
            if empty:
                note.write_text(LAYOUT + fingerprint)
        except (OSError, UnicodeDecodeError) as error:
            require(False, f"the checkpoint folder {str(folder)!r} cannot be used: {error}; name another folder")
        require(empty or known, f"{str(folder)!r} holds other files than a checkpoint; name an empty or a new folder")
        require(
            empty or known.startswith(LAYOUT),
            f"{str(folder)!r} holds the checkpoint of another version of frkit; go on with that version, or "
            "name a new folder",
        )
        require(
            empty or known == LAYOUT + fingerprint,
            f"{str(folder)!r} holds the checkpoint of another evaluation (other scores, labels, options or versions); "
            "give what it was begun with, or name a new folder",
        )
        return cls(folder)

    def next(self) -> Path:
        """Where the next sweep leaves its files, but for their endings."""
        self.n_sweeps += 1
        return self.folder / f"sweep-{self.n_sweeps}"


class Store:
    """Kept pairs of one sweep in a file and, under a checkpoint, its state after each of its batches."""

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self.path = checkpoint and checkpoint.next()
        self.kept_file = self.path and self.path.with_suffix(".kept")
        self.file, self.reading = None, Lock()

    def __del__(self) -> None:
        if self.file is not None:
            with suppress(OSError):  # of a full disk, which was said before
                self.file.close()

    def load(self) -> tuple[int, dict, dict]:
        """How many strips are done, with their sums by name, and lists: "kept" pairs, "asked" scores."""
        if not self.path.with_suffix(".npz").exists():
            return 0, {}, {}
        try:
            with np.load(self.path.with_suffix(".npz"), allow_pickle=False) as state:
                arrays = dict(state)
            done, kind = int(arrays.pop("strips")), np.dtype(str(arrays.pop("kind")))
            places, asked = arrays.pop("kept"), (arrays.pop("asked_places"), arrays.pop("asked_scores"))
            size, held = int(places[-1] @ [1, 8 + kind.itemsize]) if len(places) else 0, self.kept_file.stat().st_size
            require(held >= size, f"{self.kept_file.name} has {held} of {size} bytes")
        except Exception as error:
            require(False, f"the checkpoint {str(self.path)!r} is damaged ({error}); delete its folder and begin anew")
        with self._writing():
            self.file = open(self.kept_file, "r+b")
            self.file.truncate(size)  # what came later goes
        return done, arrays, {"kept": [Stored(self, *place.tolist(), kind) for place in places], "asked": [asked]}

    def keep(self, kept: list[tuple]) -> list:
        """Kept pairs of a batch, in the file."""
        with self._writing():
            if self.file is None:
                self.file = TemporaryFile() if self.path is None else open(self.kept_file, "w+b")
            return [self._put(pairs) for pairs in kept]

    def _put(self, pairs: tuple) -> Stored:
        place = self.file.seek(0, os.SEEK_END)
        for part in pairs:
            self.file.write(np.ascontiguousarray(part))  # `tofile` is silent where a full disk loses its last bytes
        self.file.flush()
        return Stored(self, place, len(pairs[2]), pairs[2].dtype)

    def _writing(self) -> AbstractContextManager[None]:
        """What a disk that is full or read-only means for the pairs that wait, and for the state."""
        if self.path is None:
            return writing("a temporary file of pairs", "set the environment variable TMPDIR to another folder")
        return writing(self.path.parent, "free some space there: what is finished is kept, and the same call goes on")

    def save(self, done: int, sums: dict, lists: dict) -> None:
        """The state after so many strips, whole or not at all."""
        kept, asked = lists["kept"], [np.concatenate(parts) for parts in zip(*lists["asked"], strict=True)]
        places = np.array([(part.place, part.n) for part in kept], np.int64).reshape(-1, 2)
        asked = dict(zip(("asked_places", "asked_scores"), asked or [np.empty(0, int)] * 2, strict=True))
        kind = np.array(str(kept[0].kind) if kept else "float32")
        part = self.path.with_suffix(".part")
        with self._writing():
            if self.file is not None:
                self.file.flush()
                os.fsync(self.file.fileno())
            with open(part, "wb") as file:
                np.savez(file, strips=done, kind=kind, kept=places, **asked, **sums)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path.with_suffix(".npz"))
