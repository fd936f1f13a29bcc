"""What made an evaluation: options, sizes, versions, and a fingerprint of images and draws."""

from functools import cache
from importlib.metadata import version

import numpy as np

from frkit.engine.protocol import Protocol


@cache
def versions() -> dict[str, str]:
    """Versions of the libraries on which the numbers depend."""
    return {name: version(name) for name in ("numpy", "xarray", "dask", "numba")}


def provenance(scores, protocol: Protocol, resampling, weighting, impostors, by, results) -> dict:
    """What made these numbers, as JSON can hold it."""
    images = np.bincount(protocol.people.identity_code)
    drawn = (
        {}
        if resampling is None
        else {
            "scheme": resampling.scheme,
            "n": resampling.n,
            "seed": resampling.seed,
            "strata": resampling.strata,
            "copies": protocol.diagonal,
            "target": resampling.target(len(np.unique(protocol.people.person))),
        }
    )
    known = drawn | {
        "weighting": "pair" if protocol.pooled else weighting if isinstance(weighting, str) else "p_k",
        "impostors": impostors,
        "by": by if by is None or isinstance(by, str) else list(by),
        "similarity": scores.attrs.get("similarity", "given"),
        "n_images": len(images) and int(images.sum()),
        "n_identities": len(images),
        "images_per_identity": [int(images.min()), float(np.median(images)), int(images.max())],
        "failed_genuine_comparisons": [rates.n_missing for rates in results],
        "versions": versions(),
        "fingerprint": protocol.fingerprint,
    }
    facts = {} if protocol.listed is None else protocol.listed.facts
    return {name: value for name, value in (known | facts).items() if facts.get(name, "") is not None}
