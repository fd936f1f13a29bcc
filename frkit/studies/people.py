"""Imagined studies: data sets of any size in the likeness of a population, with an effect of a given size in them."""

import warnings
from collections.abc import Mapping

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from frkit.base import IDENTITY, MODEL, DataWarning, InputError, require
from frkit.evaluation.evaluate import evaluate
from frkit.scores.tensor import score_tensor
from frkit.vmf import Likeness, Mixture, fit, sample_encoders
from frkit.vmf.population import thresholds
from frkit.vmf.quadrature import GenuineScores

MODELS = ("A", "B")
REFERENCE, MANY, QUANTILES = 400, 20_000, 60  # identities behind thresholds, behind FRR, and concentrations of these
ROUNDS = 6
CORRELATION = 0.9
NODES, NODE_WEIGHTS = np.array([-(3**0.5), 0, 3**0.5]), np.array([1, 4, 1]) / 6  # means over a normal number


class People:
    """A law of identities, scaled so that its FRR at a FAR level is as wished, from which data sets are drawn.

    law: has `draw`; where it has exact rates too, its threshold does not depend on the concentrations. by: its
    attribute, where groups matter. second: None, or how model B follows from model A.
    """

    def __init__(self, law, far: float, by: str | None = None, second: dict | None = None):
        self.law, self.far, self.by, self.second = law, far, by, second
        self.reference = law.draw(REFERENCE, np.random.SeedSequence(1))
        self.exact = float(law.population_roc(far).threshold[0]) if hasattr(law, "population_roc") else None
        many = law.draw(MANY, np.random.SeedSequence(2))
        labels = np.zeros(MANY, str) if by is None else many.labels(by)
        self.groups = np.unique(labels)
        places = (np.arange(QUANTILES) + 0.5) / QUANTILES
        self._kappa = {g: np.quantile(many.concentrations[labels == g], places) for g in self.groups}
        self.share = np.array([(labels == g).mean() for g in self.groups])
        self.factor = dict.fromkeys(self.groups, 1.0)
        self.factor_b, self.difference = 1.0, None

    def frr(self) -> np.ndarray:
        """Exact FRR of every group (G,) at the threshold where the FAR of all is the level."""
        threshold = self._threshold(self._scaled(self.reference))
        return np.array([self._frr(g, self.factor[g], threshold) for g in self.groups])

    def set_frr(self, wished: np.ndarray) -> None:
        """Scale each group's concentrations until its FRR (G,) is as wished, at the threshold that then holds."""
        for _ in range(ROUNDS):
            threshold = self._threshold(self._scaled(self.reference))
            found = {g: self._solve(g, frr, threshold) for g, frr in zip(self.groups, wished)}
            done = max(abs(np.log(found[g] / self.factor[g])) for g in self.groups) < 1e-4
            self.factor = found
            if done:
                return

    def set_difference(self, difference: float) -> None:
        """Scale model B's concentrations until its FRR exceeds that of A by so much, each at its own threshold."""
        self.difference, wished = difference, float(self.frr() @ self.share) + difference
        for _ in range(ROUNDS):
            threshold = self._threshold(self._models(self._scaled(self.reference), np.random.SeedSequence(3))["B"])
            before, self.factor_b = self.factor_b, self._solve_b(wished, threshold)
            if abs(np.log(self.factor_b / before)) < 1e-4:
                return

    def faces(self, n_identities: int, per_identity: int, seed: tuple, who: tuple | None = None) -> xr.Dataset:
        """A data set of new people, or of the same people in every data set where `who` is their seed."""
        of_people = seed if who is None else who
        mix = self._scaled(self.law.draw(n_identities, np.random.SeedSequence((*of_people, 0))))
        number = int(np.random.SeedSequence((*seed, 1)).generate_state(1)[0])
        if self.second is None:
            return mix.sample(per_identity, number)
        models = self._models(mix, np.random.SeedSequence((*of_people, 2)))
        return sample_encoders(models, per_identity, number, correlation=self.second["correlation"])

    def _scaled(self, mix: Mixture) -> Mixture:
        labels = np.zeros(mix.n_identities, str) if self.by is None else mix.labels(self.by)
        factor = np.array([self.factor[label] for label in labels])
        return Mixture(mix.mean_directions, mix.concentrations * factor, mix.groups)

    def _models(self, mix: Mixture, seed) -> dict:
        rng = np.random.default_rng(seed)
        wobble = np.exp(self.second["wobble"] * rng.standard_normal(mix.n_identities))
        options = {"centroid_correlation": self.second["centroid_correlation"], "seed": rng}
        return {"A": mix, "B": mix.correlated(concentration_factor=self.factor_b * wobble, **options)}

    def _threshold(self, mix: Mixture) -> float:
        return float(thresholds(mix, self.far)[0]) if self.exact is None else self.exact

    def _frr(self, group: str, factor: float, threshold: float, wobble: float = 0.0) -> float:
        """FRR of one group with its concentrations scaled, and spread by exp(wobble times a normal number)."""
        kappa = self._kappa[group] * factor * np.exp(wobble * NODES[:, None])
        weight = np.repeat(NODE_WEIGHTS, kappa.shape[1])
        scores = GenuineScores(kappa.ravel(), weight, self.reference.dim)
        return float(scores.frr(np.array([threshold]))[0])

    def _solve(self, group: str, frr: float, threshold: float) -> float:
        return _root(lambda factor: self._frr(group, factor, threshold), frr)

    def _solve_b(self, frr: float, threshold: float) -> float:
        wobble = self.second["wobble"]

        def both(factor: float) -> float:
            return float([self._frr(g, self.factor[g] * factor, threshold, wobble) for g in self.groups] @ self.share)

        return _root(both, frr)


def _root(frr, wished: float) -> float:
    """The factor of the concentrations at which an FRR is as wished."""
    require(0 < wished < 1, f"an FRR of {wished:.4g} cannot be planned for: it must lie between 0 and 1")
    ends = [np.log(0.01), np.log(100)]
    missed = f"no concentrations give an FRR of {wished:.4g} here; ask for a smaller effect"
    require(frr(0.01) > wished > frr(100), missed)
    return float(np.exp(brentq(lambda x: frr(np.exp(x)) - wished, *ends, xtol=1e-5)))


def people(population, far: float, goal: str, size: float | None, by: str | None) -> People:
    """The people to plan for: from a law, a Mixture, faces, or two models of either, with the effect in them."""
    if goal == "difference":
        found, usual = _two_models(population, far)
        found.set_difference(usual if size is None else size)
        return found
    require(
        MODEL not in population.dims if isinstance(population, xr.Dataset) else not isinstance(population, Mapping),
        f"goal {goal!r} is about one model: give one, such as faces.sel(model=name)",
    )
    found = People(_law(population, by), far, by)
    frr = found.frr()
    common = _frr_of_faces(population, far) if isinstance(population, xr.Dataset) else float(frr @ found.share)
    if goal == "ratio":
        require(len(frr) > 1, "goal 'ratio' compares groups: name an attribute of the population with by=")
        found.set_frr(np.where(np.arange(len(frr)) == np.argmax(frr), common * size, common))
    elif isinstance(population, xr.Dataset):
        found.set_frr(np.array([common]))
    return found


def _law(population, by: str | None):
    """A law of identities from what was given."""
    if isinstance(population, xr.Dataset):
        return _likeness_of_faces(fit(population), by)
    if isinstance(population, Mixture):
        return Likeness(population, by=by)
    require(
        hasattr(population, "draw"),
        "population must be faces, a vmf Mixture, a law with draw() such as vmf.IdentityLaw or vmf.Likeness, or for "
        f"goal 'difference' two models; got {type(population).__name__}",
    )
    return population


def _likeness_of_faces(fitted: Mixture, by: str | None) -> Likeness:
    """Images scatter in as many directions as the residuals of the data do."""
    dimension = fitted.fitted.attrs["residual_dimension"] + 1
    return Likeness(fitted, by=by, dim=int(np.clip(round(dimension), 3, fitted.dim)))


def _frr_of_faces(faces: xr.Dataset, far: float) -> float:
    """FRR of the faces at the level."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        frr = float(evaluate(score_tensor(faces), far=[far])["empirical"].frr[0])
    require(
        0 < frr < 1, f"the FRR of these faces at FAR {far:g} is {frr:g}: no errors to plan from; take a lower FAR level"
    )
    return frr


def _two_models(population, far: float) -> tuple[People, float]:
    """People seen by two models, and by how much B's FRR exceeds A's in the population given."""
    if isinstance(population, xr.Dataset) and MODEL in population.dims:
        pair = [population.sel({MODEL: name}, drop=True) for name in population[MODEL].values]
        require(len(pair) == 2, f"goal 'difference' takes two models, these faces hold {len(pair)}: select two")
        a, b = (fit(one) for one in pair)
        found = People(_likeness_of_faces(a, None), far, None, _relation(a, b, _shared_noise(*pair)))
        frr = [_frr_of_faces(one, far) for one in pair]
        found.set_frr(np.array(frr[:1]))
        return found, frr[1] - frr[0]
    if not (isinstance(population, Mapping) and len(population) == 2):
        raise InputError("goal 'difference' takes two models: faces that hold both, or {name: vmf Mixture} of two")
    a, b = population.values()
    require(a.n_identities == b.n_identities, "the two mixtures must hold the same identities in the same order")
    found = People(Likeness(a), far, None, _relation(a, b, CORRELATION))
    frr = [float(mix.population_roc(far).frr[0]) for mix in (a, b)]
    return found, frr[1] - frr[0]


def _relation(a: Mixture, b: Mixture, correlation: float) -> dict:
    """How model B follows from A, from what no rotation changes: cosines between identities and concentrations."""
    above = np.triu_indices(a.n_identities, 1)
    cosines = [(mix.mean_directions @ mix.mean_directions.T)[above] for mix in (a, b)]
    alike = max(float(np.corrcoef(*cosines)[0, 1]), 0.0)
    ratio = np.log(b.concentrations / a.concentrations)
    unknown = sum(np.mean(mix.fitted.log_kappa_sd.values**2) for mix in (a, b) if mix.fitted is not None)
    wobble = float(np.sqrt(max(ratio.var() - unknown * (1 - correlation**2), 0)))
    return {"centroid_correlation": np.sqrt(alike), "wobble": wobble, "correlation": correlation}


def _shared_noise(a: xr.Dataset, b: xr.Dataset) -> float:
    """Correlation of two models' noise: the root of that of their genuine scores around the identities' means."""
    _, codes = np.unique(a[IDENTITY].values, return_inverse=True)
    rests = []
    for one in (a, b):
        points = one["embedding"].values.astype(float)
        points /= np.linalg.norm(points, axis=1)[:, None]
        scores = [points[codes == k] @ points[codes == k].T for k in range(codes.max() + 1)]
        parts = [block[np.triu_indices(len(block), 1)] for block in scores if len(block) > 2]
        require(len(parts) > 0, "two models are compared through identities with three images or more; there is none")
        rests.append(np.concatenate([part - part.mean() for part in parts]))
    return float(np.sqrt(max(np.corrcoef(*rests)[0, 1], 0)))
