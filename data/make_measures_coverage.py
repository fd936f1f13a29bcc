"""Coverage of intervals of disparities and indices: python data/make_measures_coverage.py [name]

fairness  Makes data/fairness_coverage.csv: max over geometric mean and max over min of group FRR
          and FAR, in mixtures with a known disparity between two groups and in rotated copies,
          whose groups are exactly equal; the same 120 people in new images (image scheme), and 120
          new ones of 3,600 (identity scheme). 200 data sets: some 12 minutes.
indices   Makes data/indices_coverage.csv: SFI, CFI and DFI, of 60 people, the same or new ones of
          1,500 (identity and two-level scheme), and of the canonical scores, whose pairs are
          independent (pair scheme). 60 data sets: some 8 minutes.

Both by default. One row for each setting, measure, FAR level and method, with the Monte Carlo
standard error of the share of data sets whose 95 % interval covers the exact truth. For the floor
it is the share with p <= .05: from the test of equal rates (the p of `effective`), for the indices
from permutations of people's labels.
"""

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import frkit as fk
from frkit.papers.along import side_by_side
from frkit.papers.indices.canonical import SYSTEMS, beta_law
from frkit.papers.roc.collecting import Study, stacked
from frkit.papers.roc.coverage import count_covering
from frkit.vmf.densities import bessel_ratios

HERE = Path(__file__).parent
LEVEL, REPLICATES = 0.95, 200
IMAGES = 8  # of each person, in the study of indices
DISPARITIES = ("frr_max_geomean", "far_max_geomean", "frr_max_min", "far_max_min")
INDICES = [
    f"{index}_{variant}"
    for index in ("sfi", "cfi", "dfi")
    for variant in ("normal", "extremal", "weighted")
]
METHODS = ("pivotal", "recentered")  # of indices
KINDS = ("unfair", "fair")


def table(studies: dict[str, xr.Dataset]) -> pd.DataFrame:
    """Rows of one setting, from its studies by measure."""
    rows = []
    for name, study in studies.items():
        first = study.isel(scheme=0, level=0, drop=True).reset_coords(drop=True)
        covered = first[["coverage", "width", "truth", "estimate"]].to_dataframe().reset_index()
        floor = (
            first[["called_unfair", "truth", "estimate"]]
            .expand_dims(method=["floor"])
            .to_dataframe()
            .reset_index()
        )
        both = pd.concat(
            [
                covered.rename(columns={"coverage": "share"}),
                floor.rename(columns={"called_unfair": "share"}),
            ]
        )
        rows.append(both.assign(measure=name, datasets=study.attrs["n_datasets"]))
    result = pd.concat(rows).rename(columns={"far_level": "far", "estimate": "mean_estimate"})
    return result.assign(mc_error=np.sqrt(result.share * (1 - result.share) / result.datasets))


def fairness(n_datasets: int) -> pd.DataFrame:
    """Disparities of group rates."""
    unfair = {"A": {"kappa": (60, 240)}, "B": {"kappa": (45, 200), "cohesion": 16}}
    tables = []
    for scheme, people in (("image", 120), ("identity", 3600)):
        fair = fk.vmf.mixture(people // 2, 64, kappa=(50, 220), seed=0).rotated_copies()
        for kind, mixture in zip(
            KINDS, (fk.vmf.mixture(people, 64, seed=0, groups=unfair), fair), strict=True
        ):
            options = dict(
                n_datasets=n_datasets,
                n_identities=None if scheme == "image" else 120,
                schemes=(scheme,),
            )
            options |= dict(
                far=fk.far_levels(1e-3, 1e-2, per_decade=2),
                methods=("effective", "recentered", "naive", "pivotal"),
            )
            options |= dict(by="group", levels=(LEVEL,), replicates=REPLICATES)
            studies = {name: fk.studies.coverage(mixture, name, **options) for name in DISPARITIES}
            tables.append(table(studies).assign(scheme=scheme, population=kind))
    columns = [
        "scheme",
        "population",
        "measure",
        "far",
        "method",
        "truth",
        "mean_estimate",
        "share",
        "mc_error",
    ]
    return pd.concat(tables)[[*columns, "width", "datasets"]]


def indices(n_datasets: int) -> pd.DataFrame:
    """SFI, CFI and DFI of mixtures and of the canonical scores."""
    unfair = {
        "a": {"share": 1},
        "b": {"share": 2, "cohesion": 15},
        "c": {"share": 3, "kappa": (10, 30)},
    }
    tables = []
    for scheme, people in (("image", 60), ("identity", 1500), ("two-level", 1500)):
        fair = fk.vmf.mixture(people // 3, 32, kappa=(20, 60), seed=0).rotated_copies(
            ("a", "b", "c")
        )
        differing = fk.vmf.mixture(people, 32, kappa=(20, 60), seed=0, groups=unfair)
        for kind, mixture in zip(KINDS, (differing, fair), strict=True):
            setting = f"{scheme} {kind}"
            design = Study(
                population=mixture,
                n_identities=None if scheme == "image" else 60,
                per_identity=np.asarray(IMAGES),
                far=np.empty(0),
                schemes=(scheme,),
                replicates=REPLICATES,
                seed=0,
            )
            draw = partial(distributions_of_mixture, design)
            exact = score_distributions(mixture, IMAGES)
            studies = studies_of_indices(exact, draw, n_datasets)
            tables.append(table(studies).assign(setting=setting))
    for kind in KINDS:
        setting = f"pair {kind}"
        sizes = (1000,) * 3 if kind == "fair" else (200, 1000, 2000)
        draw = partial(distributions_of_pairs, kind, sizes)
        studies = studies_of_indices(population(kind, sizes), draw, n_datasets)
        tables.append(table(studies).assign(setting=setting))
    columns = [
        "setting",
        "index",
        "method",
        "truth",
        "mean_estimate",
        "share",
        "mc_error",
        "width",
        "datasets",
    ]
    return pd.concat(tables).rename(columns={"measure": "index"})[columns]


def studies_of_indices(exact, draw, n_datasets: int) -> dict[str, xr.Dataset]:
    """Studies of all indices; `draw` returns the scheme and the evaluation of a data set."""
    schemes, data_sets = zip(*side_by_side(draw, range(n_datasets), "data sets"), strict=True)
    evaluations = {schemes[0]: stacked(data_sets)}
    studies = {}
    for name in INDICES:
        measure = fk.measures.measure(name)
        study = count_covering(evaluations, measure(exact), measure, METHODS, (LEVEL,))
        studies[name] = study.assign_attrs(n_datasets=n_datasets)
    return studies


def distributions_of_mixture(design, number):
    """Draw one data set of a mixture and evaluate its score distributions."""
    scheme = design.schemes[0]
    _, image_seed, seed = design.seeds(number)
    scores = fk.score_tensor(design.mixture(number).sample(IMAGES, seed=image_seed))
    strata = None if scheme == "image" else "group"
    draws = fk.Resampling(scheme, n=REPLICATES, seed=seed, strata=strata)
    return scheme, fk.indices.distributions(scores, by="group", resampling=draws)


def distributions_of_pairs(kind, sizes, number):
    """Draw one list of independent pairs and evaluate its score distributions."""
    draws = fk.Resampling("pair", n=REPLICATES, seed=number)
    scores = fk.canonical_scores(kind, index="dfi", sizes=sizes, seed=number)
    options = dict(by="group", score_map="identity", resampling=draws)
    return "pair", fk.indices.distributions(scores, **options)


def population(kind: str, sizes: tuple[int, ...]) -> xr.Dataset:
    """Exact moments and histograms of the scores that `fk.canonical_scores` draws for DFI."""
    edges = np.linspace(0, 1, 101)
    moments = np.array(SYSTEMS["dfi"][kind])  # of each group: genuine mean, sd, impostor mean, sd
    variables = {"images_group": ("group", 2 * np.array(sizes))}
    for name, mean, sd in (("genuine", *moments.T[:2]), ("impostor", *moments.T[2:])):
        variables[f"{name}_mean_group"] = "group", mean
        variables[f"{name}_sd_group"] = "group", sd
        variables[f"{name}_pairs_group"] = "group", np.array(sizes)
        masses = np.diff(beta_law(mean, sd).cdf(edges[:, None]), axis=0)
        variables[f"{name}_histogram_group"] = ("score_bin", "group"), masses
    groups = [f"group {number + 1}" for number in range(len(moments))]
    return xr.Dataset(variables, {"group": groups, "score_bin": (edges[1:] + edges[:-1]) / 2})


def score_distributions(mix, per_identity: int, bins: int = 100) -> xr.Dataset:
    """Exact moments and histograms of the scores of a mixture's groups, as in an evaluation.

    All pairs weigh the same and every identity has as many images: the values are what
    `indices.distributions` estimates. Mardia & Jupp (2000), 9.3.2: E<X, mu> = A_p(kappa), and
    E X X' = (A / kappa) I + (1 - p A / kappa) mu mu'.
    """
    edges = np.linspace(-1, 1, bins + 1)
    inner = edges[1:-1]
    centres = (edges[1:] + edges[:-1]) / 2
    groups = []
    for members in mix.subpopulations("group")[1:]:
        rows = mix.groups["group"] == members.name
        above, error = members.impostors.survival(inner)
        assert error.max() < 1e-9, f"the mass of a bin may be wrong by {error.max():.2g}"
        genuine_masses = masses(members.genuine.frr(inner))
        impostor_masses = masses(1 - above.clip(0, 1))
        n = float(rows.sum())
        values = {
            "genuine_histogram": ("score_bin", genuine_masses),
            "impostor_histogram": ("score_bin", impostor_masses),
            "images": n * per_identity,
            "genuine_pairs": n * (per_identity * (per_identity - 1) / 2),
            "impostor_pairs": n * (n - 1) / 2 * per_identity**2,
            **score_moments(mix.mean_directions[rows], mix.concentrations[rows]),
        }
        named = {f"{name}_group": value for name, value in values.items()}
        groups.append(xr.Dataset(named, {"score_bin": centres, "group": members.name}))
    return xr.concat(groups, "group").transpose("score_bin", "group")


def masses(below):
    """Masses of the bins, from those below their inner edges; rounding makes none less than 0."""
    return np.diff(below, prepend=0.0, append=1.0).clip(0)


def score_moments(directions, kappa):
    """Mean and standard deviation of the scores; pairs of identities weigh the same.

    With A = A_p(kappa), E X = A mu and E X X' = across I + excess mu mu', where across = A / kappa
    and p across + excess = 1. Then E <X, Y> = <E X, E Y> and E <X, Y>^2 = tr(E X X' E Y Y').
    """
    n, dim = directions.shape
    length = bessel_ratios(kappa, dim, 2)[:, 1]
    across = length / kappa
    excess = 1 - dim * across

    genuine_mean = np.mean(length**2)
    along_mean = (across + excess) ** 2
    genuine_square = np.mean(along_mean + (dim - 1) * across**2)

    # sums over ordered pairs of identities: over all pairs, less those of an identity with itself
    n_pairs = n * (n - 1)
    centre = length @ directions
    impostor_mean = (centre @ centre - np.sum(length**2)) / n_pairs
    across_across = across.sum() ** 2 - np.sum(across**2)
    across_excess = across.sum() * excess.sum() - across @ excess
    scatter = (directions * excess[:, None]).T @ directions
    excess_excess = np.sum(scatter**2) - np.sum(excess**2)
    square_sum = dim * across_across + 2 * across_excess + excess_excess
    impostor_square = square_sum / n_pairs

    return {
        "genuine_mean": genuine_mean,
        "genuine_sd": np.sqrt(genuine_square - genuine_mean**2),
        "impostor_mean": impostor_mean,
        "impostor_sd": np.sqrt(impostor_square - impostor_mean**2),
    }


STUDIES = {"fairness": (fairness, 200), "indices": (indices, 60)}


def main() -> None:
    """Compute what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []])
    parser.add_argument(
        "--datasets", type=int, help="of each setting, where not as many as are stored"
    )
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the tables")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", fk.DataWarning)
    for name in arguments.studies or STUDIES:
        study, usual = STUDIES[name]
        n_datasets = arguments.datasets or usual
        result = study(n_datasets)
        versions = (
            f"frkit {fk.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}"
        )
        with open(arguments.out / f"{name}_coverage.csv", "w", encoding="utf-8") as file:
            file.write(
                f"# python data/make_measures_coverage.py {name} --datasets {n_datasets}\n"
                f"# {versions}\n"
            )
            result.round(4).to_csv(file, index=False)


if __name__ == "__main__":
    main()
