"""Faces of two models to report on."""

import numpy as np

import frkit as fk


def two_models(groups=("a", "b"), n=40, per_identity=6):
    """Two encoders, the second worse, on the same images; the second group is harder."""
    kinds = {groups[0]: {"kappa": 20}, groups[1]: {"kappa": 9}}
    faces = fk.vmf.mixture(n, 16, seed=0, groups=kinds).sample(per_identity, seed=1)
    noise = np.random.default_rng(2).normal(scale=0.12, size=faces.embedding.shape)
    worse = faces.assign(embedding=faces.embedding + noise.astype(np.float32))
    return fk.open_data({"good": faces, "bad": worse})
