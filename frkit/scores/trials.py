"""Trials of speaker recognition: VoxCeleb's and Kaldi's lists with a file of scores."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import IDENTITY, PROBE, REFERENCE, InputError
from frkit.data.files import named
from frkit.data.tables import read_text, to_numbers
from frkit.scores.pair_columns import mapped, read_scores, refuse


def read_voxceleb(path, scores=None) -> dict:
    """Read trials `label enrol test`."""
    return _read_trials("label enrol test", path, scores)


def read_kaldi(path, scores=None) -> dict:
    """Read trials `enrol test label`."""
    return _read_trials("enrol test label", path, scores)


def _read_trials(fields: str, path, scores) -> dict:
    """Read trials with a file of scores: in their order, or as lines `enrol test score`."""
    table = read_text(Path(path), fields)
    out = mapped(table, {"genuine": "label", PROBE: "test", REFERENCE: "enrol"})
    out[f"{PROBE}_{IDENTITY}"] = _speakers(table.test)
    out[f"{REFERENCE}_{IDENTITY}"] = _speakers(table.enrol)
    return out | {"score": _trial_scores(table, scores, path)}


def _speakers(names: pd.Series) -> np.ndarray:
    """Return the first folder; without one what stands before the first hyphen, as in Kaldi."""
    is_path = names.str.contains("/", regex=False)
    folder = names.str.split("/", n=1).str[0]
    return folder.where(is_path, names.str.split("-", n=1).str[0]).to_numpy(object)


def _trial_scores(trials: pd.DataFrame, scores, path) -> np.ndarray | dict[str, np.ndarray]:
    """Return scores in the trials' order; from a file of three columns by the names of both."""
    if isinstance(scores, Mapping):
        return {str(name): _trial_scores(trials, model, path) for name, model in scores.items()}
    if not isinstance(scores, (str, Path)) or str(scores).endswith(".npy"):
        return read_scores(scores, len(trials), path)
    with named(scores):
        table = read_text(Path(scores), "enrol [test score]", "enrol test score, or one score")
        if table.test.isna().all():
            return read_scores(to_numbers(table.enrol.rename("score")), len(trials), path)
        odd = table.index[table.test.isna() | table.score.isna()]
        refuse(odd, " has another number of fields; a line is: enrol test score")
        sides = ["enrol", "test"]
        again = table.index[table.duplicated(sides)]
        refuse(again, " scores a trial for a second time")
        table["score"] = to_numbers(table.score)
        score_of = table.set_index(sides).score
        place = score_of.index.get_indexer(pd.MultiIndex.from_frame(trials[sides]))
        if (place < 0).any():
            lost = trials[place < 0].iloc[0]
            message = f"no score for the trial in line {lost.name} of {path}"
            raise InputError(f"{message}: {lost.enrol} {lost.test}")
        return score_of.to_numpy()[place]
