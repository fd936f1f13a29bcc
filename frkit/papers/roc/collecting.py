"""The data sets of a coverage study, evaluated side by side."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.evaluation.evaluate import evaluate_parts
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor

DATA_SET = "data_set"


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """The design of a study: data set d depends only on it and on d.

    population: its identities are in every data set; with n_identities, every data set draws so
    many of them. people: whether what each person adds to the rates is computed.
    """

    population: object
    n_identities: int | None
    per_identity: np.ndarray
    far: np.ndarray
    by: str | None = None
    schemes: tuple[str, ...]
    replicates: int
    seed: int
    people: bool = False

    def seeds(self, number):
        """Return the seeds of the identities, images and replicates of one data set."""
        children = np.random.SeedSequence(self.seed, spawn_key=(number,)).spawn(3)
        return [int(child.generate_state(1, np.uint64)[0]) for child in children]

    def mixture(self, number):
        """Draw the identities of one data set."""
        if self.n_identities is None:
            return self.population
        return self.population.draw(self.n_identities, self.seeds(number)[0])

    def data_set(self, number):
        """Draw one data set and evaluate it by every scheme."""
        _, images, replicates = self.seeds(number)
        sample = self.mixture(number).sample(per_identity=self.per_identity, seed=images)
        scores = score_tensor(sample)
        evaluations = {}
        for scheme in self.schemes:
            # the groups of all data sets have the same sizes: so do those of the replicates
            strata = None if scheme == "image" else self.by
            draws = Resampling(scheme, n=self.replicates, seed=replicates, strata=strata)
            evaluations[scheme] = evaluate_parts(
                scores, by=self.by, resampling=draws, far=self.far, people=self.people
            )
        return evaluations


def stacked(evaluations):
    """One evaluation of all data sets: `data_set` is the first dim of each variable."""

    def joined(*nodes):
        return xr.concat(nodes, DATA_SET, data_vars="all")

    return xr.map_over_datasets(joined, *evaluations)
