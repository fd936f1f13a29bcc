"""The engine of a plan: simulate a size, fit how variances fall with it, predict and solve."""

import warnings
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import nnls
from scipy.stats import norm

from frkit.base import IDENTITY, DataWarning, require
from frkit.evaluation.evaluate import evaluate
from frkit.intervals import band, compare, floor
from frkit.resampling import TARGETS, Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.people import MODELS, People

GOALS = {
    "half_width": "half the width of the band of FRR",
    "relative_half_width": "half the width of the band of FRR, as a share of FRR",
    "difference": "FRR of model B minus FRR of model A",
    "ratio": "largest over smallest FRR of the groups",
}
ERRORS = 10  # expected false accepts and false rejects from which a level is resolved
SUPPORT_ERRORS = 20  # expected false rejects (of each group) in the smaller simulated size
SUPPORT_IMAGES = 4  # more images of one identity do not count for that: its errors come together
TERMS = ("identity", "image", "pair")


class Plan(NamedTuple):
    """What is planned for, and how a size is simulated, predicted and solved for."""

    who: People
    goal: str
    size: float
    far: float
    level: float
    power: float
    resampling: Resampling
    frr: float
    share: float
    calibration: float = 1.0

    @property
    def is_test(self) -> bool:
        return self.goal in ("difference", "ratio")

    @property
    def wished(self) -> float:
        """The half-width, or the effect on its scale."""
        scale = {"relative_half_width": self.frr * self.size, "ratio": np.log(self.size)}
        return scale.get(self.goal, abs(self.size))

    def support(self, n: int) -> tuple[int, int]:
        smallest = max(self.resolved(min(n, SUPPORT_IMAGES), SUPPORT_ERRORS), 30)
        return smallest, 2 * smallest

    def resolved(self, n: int, errors: float) -> int:
        """Identities from which so many false accepts and false rejects (of the smallest group) are expected."""
        accepts = np.sqrt(2 * errors / self.far) / n
        rejects = errors / (n * (n - 1) / 2 * self.frr * self.share)
        return int(np.ceil(max(accepts, rejects, 4 / self.share)))

    def simulate(self, n_identities: int, n: int, data_sets: range, bar) -> np.ndarray:
        """Estimate, critical value (half-width) and whether the effect was seen, for each data set (data set, 3)."""
        rows, seed = [], self.resampling.seed
        same = (seed, n_identities) if self.resampling.scheme == "image" else None
        for number in data_sets:
            faces = self.who.faces(n_identities, n, (seed, n_identities, n, number), same)
            rows.append(self.outcome(faces))
            bar.update()
        return np.array(rows, float)

    def outcome(self, faces: xr.Dataset) -> tuple[float, float, float]:
        """Estimate, critical value (half-width) and whether the effect was seen, in one data set."""
        how = dict(far=[self.far], by=self.who.by, resampling=self.resampling)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return self._judged(evaluate(score_tensor(faces), **how))

    def _judged(self, evaluation: xr.DataTree) -> tuple[float, float, float]:
        if self.goal == "ratio":
            found = floor(evaluation, "frr_max_min", level=self.level).isel(far_level=0)
            with np.errstate(divide="ignore"):
                estimate, critical = np.log(float(found.estimate)), np.log(float(found.limit))
            return estimate, critical, float(found.p) <= 1 - self.level
        if self.goal == "difference":
            found = compare(evaluation, "frr", models=MODELS, level=self.level).isel(far_level=0)
            estimate, seen = float(found.estimate), float(found.lower) > 0 or float(found.upper) < 0
            critical = estimate - float(found.lower) if estimate > 0 else float(found.upper) - estimate  # towards 0
            return estimate, critical, seen
        found = band(evaluation, "frr", level=self.level).isel(far_level=0)
        return float(found.estimate), float(found.upper - found.lower) / 2, True

    def value(self, run: np.ndarray) -> tuple[float, float]:
        """Half-width, or the share of data sets that saw the effect, each with its standard error."""
        width = run[:, 1] * self.calibration / (self.frr if self.goal == "relative_half_width" else 1)
        values = run[:, 2] if self.is_test else width
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))

    def fitted_law(self, points: list, runs: list) -> np.ndarray:
        """a, b, c (quantity, term) of the squared critical value and, for tests, of the variance of the margin.

        The margin is what the effect exceeds its critical value by: the two go together where errors are few.

        The variance is taken to be the same share of the squared critical value everywhere: a few data sets of each
        size say little of a variance, all of them together more.
        """
        finite = [run[np.isfinite(run[:, :2]).all(1)] for run in runs]
        require(
            min(map(len, finite)) >= 5,
            "too many simulated data sets have no error in some group: give larger support=, or a larger effect",
        )
        critical = np.array([np.mean(run[:, 1] ** 2) for run in finite])
        design = np.array([_terms(n) / k for n, k in points])
        law = nnls(design / critical[:, None], np.ones(len(points)))[0]
        if not self.is_test:
            return law[None]
        freedom = [len(run) - 1 for run in finite]
        margin = [(np.abs(run[:, 0]) - run[:, 1]).var(ddof=1) for run in finite]
        share = np.average(margin / critical, weights=freedom)
        return np.stack([law, share * law])

    def against(self, faces: xr.Dataset, law: np.ndarray) -> float:
        """The half-width of the faces themselves over the one that the law has for a data set of their size."""
        counts = np.unique(faces[IDENTITY].values, return_counts=True)[1]
        terms = np.mean([_terms(n) for n in counts[counts > 1]], axis=0)
        return self.outcome(faces)[1] / float(np.sqrt(law[0] @ terms / np.sum(counts > 1)))

    def predicted(self, law: np.ndarray, n_identities, n: int) -> np.ndarray:
        """Half-width as the goal counts it, or power."""
        roots = np.sqrt(law @ _terms(n))[:, None] / np.sqrt(np.atleast_1d(n_identities))
        if not self.is_test:
            return roots[0] / (self.frr if self.goal == "relative_half_width" else 1)
        return norm.cdf((self.wished - roots[0]) / roots[1])

    def needed(self, law: np.ndarray, n: int) -> int:
        """The smallest number of identities that reaches the goal, and at which the level is resolved."""
        roots = np.sqrt(law @ _terms(n))
        sigmas = norm.ppf(self.power) * roots[1] if self.is_test else 0
        return max(int(np.ceil(((roots[0] + sigmas) / self.wished) ** 2)), self.resolved(n, ERRORS))

    def result(self, points: list, runs: list, law: np.ndarray, per_identity: tuple) -> xr.Dataset:
        numbers = list(per_identity)
        needed = np.array([self.needed(law, n) for n in numbers])
        sizes = np.array([k for _, k in points]).reshape(len(numbers), -1)
        simulated = np.array([self.value(run) for run in runs]).reshape(len(numbers), -1, 2)
        low, high = min(sizes.min(), needed.min()), max(sizes.max(), needed.max())
        curve = np.unique(np.geomspace(low / 1.5, high * 1.5, 60).round().astype(int))
        lines = [self.predicted(law, curve, n) for n in numbers]
        data = {
            "n_identities": needed,
            "n_images": needed * numbers,
            "predicted": [self.predicted(law, k, n)[0] for k, n in zip(needed, numbers)],
        }
        data = {name: ("per_identity", values) for name, values in data.items()}
        grid = ("per_identity", "support")
        data |= {"support_identities": (grid, sizes), "support_value": (grid, simulated[..., 0])}
        data |= {"support_se": (grid, simulated[..., 1])}
        data["support_predicted"] = grid, [self.predicted(law, row, n) for row, n in zip(sizes, numbers)]
        data |= {"law": (("quantity", "term"), law), "curve_value": (("per_identity", "curve"), lines)}
        data["curve_identities"] = "curve", curve
        quantity = ["critical", "margin"][: len(law)]
        return xr.Dataset(data, {"per_identity": numbers, "quantity": quantity, "term": list(TERMS)}, self._attrs())

    def _attrs(self) -> dict:
        scheme = self.resampling.scheme
        given = {name: getattr(self, name) for name in ("goal", "size", "far", "level", "frr")}
        given |= {
            "calibration": self.calibration,
            "scheme": scheme,
            "target": TARGETS[scheme].format(n="K", m=""),
            "wished": self.wished,
        }
        given |= {
            "value": "power" if self.is_test else GOALS[self.goal],
            "line": self.power if self.is_test else self.size,
        }
        return given

    @staticmethod
    def best(result: xr.Dataset) -> tuple[int, int]:
        """Images per identity and identities of the plan that needs the fewest images."""
        best = result.isel(per_identity=int(result.n_images.values.argmin()))
        return int(best.per_identity), int(best.n_identities)

    def answer(self, result: xr.Dataset) -> str:
        n, k = self.best(result)
        what = {
            "half_width": f"bring the half-width of the {self.level:.0%} band of FRR to {self.size:g}",
            "relative_half_width": f"bring the half-width of the {self.level:.0%} band to {self.size:.0%} of FRR",
            "difference": f"see a difference of {self.size:.3g} in FRR with a power of {self.power:.0%}",
            "ratio": f"see a ratio of {self.size:g} between the groups' FRR with a power of {self.power:.0%}",
        }[self.goal]
        every = zip(result.per_identity.values, result.n_identities.values)
        images = " or ".join(f"{identities:,} with {number}" for number, identities in every)
        text = (
            f"At FAR {self.far:g} (FRR {self.frr:.3g}), about {k:,} identities with {n} images each ({k * n:,} images) "
            f"{what}"
        )
        text += f"; identities needed by images per identity: {images}." if result.sizes["per_identity"] > 1 else "."
        if self.calibration != 1:
            times = f"{self.calibration:.2g} times as wide as in their likeness"
            text += f" In the faces given, bands are {times}, counted in here."
        if "confirmed" in result:
            found, error = float(result.confirmed), float(result.confirmed_se)
            text += f" Simulated at that size: {found:.3g} (standard error {error:.2g})."
        return text


def _terms(n: int) -> np.ndarray:
    """The shares of the identity's, the images' and the pairs' variance in that of FRR."""
    return np.array([1.0, 1 / n, 1 / (n * (n - 1))])
