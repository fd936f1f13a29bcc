"""Faces of two models to report on, and reports that take less time."""

from contextlib import contextmanager
from unittest import mock

import numpy as np

import frkit as fk
from frkit.papers.indices import section as indices
from frkit.papers.nsigma import section as nsigma
from frkit.reporting import fairness, report

MEASURES = ("frr_max_min", "far_max_min", "fdr")


@contextmanager
def brief_reports():
    """Reports list some measures of disparity, not all, and draw less for their long parts."""
    with (
        mock.patch.object(fairness, "names", lambda: MEASURES),
        mock.patch.object(indices, "REPLICATES", 20),
        mock.patch.object(nsigma, "EQUAL_GROUPS", 2),
    ):
        yield


@contextmanager
def only_parts(*names):
    """Reports consist of their first numbers, the data, and those parts of which a test speaks."""
    kept = {*report.OF_FEW_PEOPLE, *names}
    parts = {name: part for name, part in report.PARTS.items() if name in kept}
    with mock.patch.dict(report.PARTS, parts, clear=True):
        yield


def two_models(groups=("a", "b"), n=40, per_identity=6):
    """Two encoders, the second worse, on the same images; the second group is harder."""
    kinds = {groups[0]: {"kappa": 20}, groups[1]: {"kappa": 9}}
    faces = fk.vmf.mixture(n, 16, seed=0, groups=kinds).sample(per_identity, seed=1)
    noise = np.random.default_rng(2).normal(scale=0.12, size=faces.embedding.shape)
    worse = faces.assign(embedding=faces.embedding + noise.astype(np.float32))
    return fk.open_data({"good": faces, "bad": worse})
