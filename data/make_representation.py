"""Make the stored results of notebook 7: python data/make_representation.py PART [PART ...]

Parts: digits, shares, entropy, debiasing, cohorts, lfw; without a name all of them, one after the
other, in one to eight minutes each. Each writes representation_PART.nc into this folder, with its
command, seeds and versions as attributes. A part that is stored already is left alone: delete the
file to make it anew. Long parts keep their finished seeds in the folder named by --store, so that
they can be stopped and started again.
"""

import argparse
import json
import os
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq
from scipy.special import entr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

import frkit as fk
from frkit import representation, studies
from frkit.papers.rlb.biased_data import CORNERS, N_TASKS, RACE, SEX, TASK

HERE = Path(__file__).resolve().parent
# small: there are hundreds of estimates
CRITIC = representation.Critic(hidden=32, iterations=200, patience=75, learning_rate=4e-3)
CASES = ("moderate", "extreme")
SIGMA = (0.02, 0.1, 0.2, 0.3, 0.5, 0.8)
FEMALE = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
BLACK = (0.02, 0.1, 0.25, 0.5, 0.8, 0.95)
REAL_DATA = Path(os.environ.get("FRKIT_REAL_DATA", HERE.parent.parent / "shared/data"))
ENCODERS = ("facenet", "insightface")
ENTROPY = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)  # of the highest, log 2 or log 4


# --- Fig. 3: coloured digits ---------------------------------------------------------------------


def digits(seed):
    """Fig. 3b and 3c for both cases."""
    test = xr.Variable("test", ["as in training", "0.5"])
    panels = [
        xr.concat([bias_of_digits(case, fixed, seed) for fixed in (None, 0.5)], test)
        for case in CASES
    ]
    return xr.concat(panels, xr.Variable("case", list(CASES)), combine_attrs="drop")


def bias_of_digits(case, sigma_of_test, seed, sigmas=SIGMA, critic=CRITIC):
    """Bias of networks trained on coloured digits, by the spread of the colours in training.

    sigma_of_test : spread of the test colours; None for that of training. `dataset_bias` is that of
    the test colours about the digit; all others are of the hidden layer and the colour.
    """

    def row(sigma):
        test_sigma = sigma if sigma_of_test is None else sigma_of_test
        train = studies.coloured_digits(case, sigma, part="train", seed=seed)
        test = studies.coloured_digits(case, test_sigma, seed=seed)
        encoded = studies.digit_encoder(train, seed=seed)(test)
        bias = fk.representation_bias(encoded, "colour", seeds=1, critic=critic, progress=False)
        colours = test.drop_vars("embedding").rename(drawn="embedding", rgb="feature")
        return bias[["rlb", "mutual_information", "entropy"]].assign(
            dcor2=representation.distance_correlation(encoded, "colour", permutations=0).dcor2,
            dataset_bias=representation.probe(colours, "digit").dataset_bias,
            accuracy=(encoded.score.idxmax("label") == encoded.digit).mean(),
        )

    return along("sigma", sigmas, row)


# --- Fig. 4: identities crossed with sex and race ------------------------------------------------


def shares(seed):
    """Fig. 4a: RLB of sex and race together over the shares of the training set."""
    return crossed_bias([(female, black) for female in FEMALE for black in BLACK], seed)


def entropy(seed):
    """Fig. 4b: RLB of one attribute over its entropy in training, the other one balanced."""
    sex = [(dominant_share(part * np.log(2), 2), 0.25) for part in ENTROPY]
    race = [(0.5, dominant_share(part * np.log(4), 4)) for part in ENTROPY]
    curves = [crossed_bias(sex, seed, "sex"), crossed_bias(race, seed, "race")]
    curves = [
        curve.rename(design="part").drop_vars(["female", "black"]).assign_coords(part=list(ENTROPY))
        for curve in curves
    ]
    return xr.concat(curves, xr.Variable("attribute", ["sex", "race"]))


def crossed_bias(designs, seed, attribute=("sex", "race"), n_test=400, critic=CRITIC):
    """RLB of encoders trained with these shares of women and of Black people; read on others."""
    test = crossed_faces(n_test, 5, crossed=False, seed=10_000 + seed)
    encoded = {}
    for number, (female, black) in enumerate(designs):
        encode = identity_encoder(crossed_faces(female=female, black=black, seed=seed))
        encoded[str(number)] = encode(test)
    faces = fk.open_data(encoded)
    bias = fk.representation_bias(faces, attribute, seeds=1, critic=critic, progress=False)
    bias = bias[["rlb", "rlb_se", "mutual_information", "entropy"]]
    female, black = np.transpose(designs)
    coords = {"female": ("design", female), "black": ("design", black)}
    return bias.rename(model="design").drop_vars("design").assign_coords(coords)


def crossed_faces(
    n_identities=40, per_identity=10, *, female=0.5, black=0.25, crossed=True, seed=0
):
    """Images as vectors: identity, plus sex along one axis and race along three, plus noise.

    female, black : shares; the other races have equal parts of the rest. crossed : every image
    draws its own sex and race, as in the paper's synthetic faces; else each person has one of each,
    in numbers as near to the shares as possible.
    """
    strength = 4.0  # between the sexes, and between two races, in standard deviations of people
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_identities), per_identity)
    cells = np.outer([female, 1 - female], [black, *3 * [(1 - black) / 3]]).ravel()
    if crossed:
        cell = rng.choice(cells.size, person.size, p=cells)
    else:
        places = (np.arange(n_identities) + 0.5) / n_identities
        cell = rng.permutation(np.searchsorted(np.cumsum(cells), places))[person]
    sex, race = np.divmod(cell, len(RACE))
    values = rng.standard_normal((n_identities, 12))[person]
    values += rng.standard_normal((person.size, 12))
    values[:, 0] += strength * (sex - 0.5)
    values[:, 1:4] += strength * CORNERS[race]
    return fk.faces(
        values,
        np.char.mod("id%04d", person),
        sex=np.array(SEX)[sex],
        race=np.array(RACE)[race],
    )


def identity_encoder(train, width=8):
    """A linear discriminant that separates the identities; returns a function of other faces."""
    discriminant = LinearDiscriminantAnalysis(n_components=width)
    discriminant.fit(train["embedding"].values, train["identity"].values)

    def encode(others):
        values = discriminant.transform(others["embedding"].values).astype(np.float32)
        return others.assign(embedding=(("image", "feature"), values))

    return encode


def dominant_share(entropy, classes):
    """The share of one class at which classes have an entropy (nats), the others being equal."""

    def excess(share):
        rest = (1 - share) / (classes - 1)
        return float(entr(share) + (classes - 1) * entr(rest)) - entropy

    if excess(1 / classes) <= 0:
        return 1 / classes
    return float(brentq(excess, 1 / classes, 1 - 1e-12))


# --- Fig. 7, Tables III and IV: debiasing --------------------------------------------------------

METHODS = ("baseline", "resampling", "subspace removed", "groups aligned", "classifier per group")


def debiasing(seed):
    """Fig. 7 and Table III: sex, one pair of data sets."""
    return debiasing_table("sex", 1000, seed)


def cohorts(seed):
    """Table IV: sex and race among people with equally many of each."""
    sex, race = (debiasing_table(name, 2000, seed, female=0.5) for name in ("sex", "race"))
    by_cohort = ["accuracy", "average_precision"]
    others = [table.drop_vars([*by_cohort, "group"]) for table in (sex, race)]
    table = xr.concat(others, xr.Variable("attribute", ["sex", "race"]))
    return table.assign({name: race[name] for name in by_cohort})


def debiasing_table(attribute, n, seed, methods=METHODS, critic=CRITIC, **design):
    """All measures of encoders that were debiased in five ways, on n other images."""
    train = studies.biased_tasks(n, seed=2 * seed, **design)
    test = studies.biased_tasks(n, seed=2 * seed + 1, **design)

    def row(method):
        encoded = debiased(train, attribute, method)(test)
        return all_measures(train, encoded, attribute, critic)

    return along("family", methods, row)


def debiased(train, attribute, method):
    """Train a linear encoder, debiased by a method, and classifiers of its features.

    The encoder's directions are those of logistic classifiers of the labels. "baseline": nothing is
    done. "resampling": weights make every label equally frequent in every group. "subspace
    removed": no linear function of the features separates the groups. "groups aligned": the
    features of each group are standardised by its own mean and covariance. "classifier per group":
    each group has its own directions and classifiers. The last two need the group of a test image.
    """
    x = train["embedding"].values.astype(float)
    label = train["label"].values
    group = train[attribute].values
    weight = np.ones(label.shape)
    if method == "resampling":  # label and group become independent, all cells equal
        for task in range(N_TASKS):
            cell = np.char.add(group, label[:, task].astype(str))
            weight[:, task] = compute_sample_weight("balanced", cell)
    members = {name: group == name for name in np.unique(group)}
    trained_on = members if method == "classifier per group" else {"all": slice(None)}

    def classifiers_of(features):
        return {
            name: _logistic(features[rows], label[rows], weight[rows])
            for name, rows in trained_on.items()
        }

    directions = np.concatenate([slopes for slopes, _ in classifiers_of(x).values()])
    if method == "classifier per group":  # those that the groups use most, two for every label
        directions = np.linalg.svd(directions, full_matrices=False)[2][: 2 * N_TASKS]
    rules = _rules(method, x @ directions.T, members)
    classifiers = classifiers_of(_by_group(x @ directions.T, group, rules))

    def encode(others):
        other_group = others[attribute].values
        raw = others["embedding"].values.astype(float) @ directions.T
        encoded = _by_group(raw, other_group, rules)
        score = np.empty((len(encoded), N_TASKS))
        for name, (slope, offset) in classifiers.items():
            rows = slice(None) if name == "all" else other_group == name
            score[rows] = encoded[rows] @ slope.T + offset
        return others.assign(
            embedding=(("image", "feature"), encoded.astype(np.float32)),
            score=(("image", TASK), score),
            predicted=others.label.copy(data=score > 0),
        )

    return encode


def _logistic(x, label, weight):
    """Slopes (task, feature) and offsets (task,) of logistic classifiers of every label."""
    fits = [
        LogisticRegression().fit(x, task_label, sample_weight=task_weight)
        for task_label, task_weight in zip(label.T, weight.T, strict=True)
    ]
    slopes = np.concatenate([fit.coef_ for fit in fits])
    offsets = np.concatenate([fit.intercept_ for fit in fits])
    return slopes, offsets


def _rules(method, features, members):
    """Return centre and matrix for each group: features become (features - centre) @ matrix."""
    if method == "groups aligned":
        return {name: _whitening(features[rows]) for name, rows in members.items()}
    rule = 0.0, np.eye(features.shape[1])
    if method == "subspace removed":
        # after whitening, the directions in which the groups' means differ
        centre, whiten = _whitening(features)
        white = (features - centre) @ whiten
        means = np.stack([white[rows].mean(0) for rows in members.values()])
        _, _, directions = np.linalg.svd(means - means.mean(0))
        basis = directions[: len(means) - 1]
        rule = centre, whiten @ (np.eye(len(centre)) - basis.T @ basis)
    return dict.fromkeys(members, rule)


def _whitening(features):
    """Return the mean, and the inverse square root of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(features.T))
    inverse_root = vectors / np.sqrt(values) @ vectors.T
    return features.mean(0), inverse_root


def _by_group(features, group, rules):
    """Change features by the rule of each image's group."""
    changed = np.empty_like(features)
    for name, (centre, matrix) in rules.items():
        rows = group == name
        changed[rows] = (features[rows] - centre) @ matrix
    return changed


def all_measures(train, test, attribute, critic):
    """All measures of one method on one test set; means over the labels."""
    group = cohort = test[attribute].values
    if attribute == "race":
        cohort = np.char.add(np.char.add(group, ", "), test.sex.values)
    spreads = []
    for task in range(N_TASKS):
        test_of_task = test.isel({TASK: task})
        spread = representation.cohort_spread(
            test_of_task.label, test_of_task.predicted, cohort, score=test_of_task.score
        )
        spreads.append(spread)
    spread = xr.concat(spreads, TASK).mean(TASK)
    accuracy = spread.sel(metric="accuracy", drop=True)
    precision = spread.sel(metric="average_precision", drop=True)
    before = shares_of_groups(train.label, train[attribute].values)
    after = shares_of_groups(test.predicted, group)
    dominant = before > 1 / len(before)
    options = {"seeds": 1, "progress": False}
    bias = fk.representation_bias(test, attribute, critic=critic, **options)
    plain = fk.representation_bias(test, attribute, critic=replace(critic, mapping=0), **options)
    return xr.Dataset(
        {
            "accuracy": accuracy.value,
            "average_precision": precision.value,
            "overall_accuracy": accuracy.overall,
            "overall_average_precision": precision.overall,
            "bias_score": after.max().mean(),
            "amplification": (after - before)[dominant].sum(min_count=1).mean(),
            "dcor2": representation.distance_correlation(test, attribute, permutations=0).dcor2,
            "mutual_information": bias.mutual_information,
            "rlb": bias.rlb,
            "rlb_plain": plain.rlb,
        }
    )


def shares_of_groups(label, group):
    """Return the share of each group among the images with each label."""
    counts = pd.DataFrame(label.values).groupby(group).sum()
    return counts / counts.sum()


# --- Table II: nothing to find -------------------------------------------------------------------


def lfw(seed):
    """Table II on two encoders' embeddings of LFW, with gender; and folds of images."""
    tables = []
    for encoder in ENCODERS:
        faces = fk.open_data(REAL_DATA / f"lfw158_{encoder}.npz")
        permuted = studies.spurious(faces, "gender", seed=seed)["Z_S"]
        split = fk.representation_bias(permuted, "gender", by="image", seeds=1, progress=False)
        table = spurious_table(faces, "gender", seed)
        tables.append(table.assign(rlb_image_folds=split.rlb))
    return xr.concat(tables, xr.Variable("model", list(ENCODERS)))


def spurious_table(faces, attribute, seed, critic=None):
    """Predictor and RLB, in sample and held out, where embedding and attribute are independent."""
    cases = studies.spurious(faces, attribute, seed=seed)

    def row(case):
        bias = fk.representation_bias(
            cases[case], attribute, seeds=1, critic=critic, progress=False
        )
        dependence = representation.distance_correlation(cases[case], attribute)
        table = representation.probe(cases[case], attribute)
        table = table.assign(bias[["rlb", "rlb_se", "rlb_in_sample"]])
        return table.assign(dependence[["dcor2", "p_value"]]).drop_attrs()

    return along("case", cases, row)


def along(dim, values, row):
    """Stack a row for each value along a new dimension."""
    return xr.concat([row(value) for value in values], xr.Variable(dim, list(values)))


PARTS = {
    "digits": (digits, 2),
    "shares": (shares, 2),
    "entropy": (entropy, 4),
    "debiasing": (debiasing, 50),
    "cohorts": (cohorts, 2),
    "lfw": (lfw, 3),
}


def result_of_seed(part, seed, store):
    """One seed of one part, read from the store if it is finished."""
    store.mkdir(parents=True, exist_ok=True)
    file = store / f"{part}_{seed}.nc"
    if not file.exists():
        PARTS[part][0](seed).to_netcdf(file.with_suffix(".part"), engine="h5netcdf")
        file.with_suffix(".part").rename(file)
    print(part, seed, flush=True)
    return xr.load_dataset(file, engine="h5netcdf")


def make(part, store):
    """Write all seeds of one part into one small file."""
    n_seeds = PARTS[part][1]
    results = [result_of_seed(part, seed, store) for seed in range(n_seeds)]
    seeds = xr.Variable("seed", np.arange(n_seeds))
    result = xr.concat(results, seeds, combine_attrs="drop").astype(np.float32)
    versions = {"frkit": fk.__version__} | {
        name: version(name) for name in ("numpy", "scikit-learn", "xarray")
    }
    command = f"python data/make_representation.py {part}"
    result.attrs = {
        "kind": "representation_bias",
        "command": command,
        "seeds": n_seeds,
        "critic": str(CRITIC),
        "versions": json.dumps(versions),
    }
    result.to_netcdf(
        HERE / f"representation_{part}.nc", engine="scipy"
    )  # netCDF 3: a tenth of the size for so few numbers


def main():
    """Make the parts that are asked for and not yet stored."""
    parser = argparse.ArgumentParser(description="Make the stored results of notebook 7.")
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    parser.add_argument("--store", type=Path, default=HERE / "representation_parts")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"unknown parts {sorted(unknown)}; known: {', '.join(PARTS)}")
    for part in arguments.parts or PARTS:
        if part == "lfw" and not REAL_DATA.is_dir():
            print("lfw: left out; FRKIT_REAL_DATA names the folder of its embeddings")
        elif not (HERE / f"representation_{part}.nc").exists():
            make(part, arguments.store)


if __name__ == "__main__":
    main()
