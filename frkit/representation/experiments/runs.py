"""The paper's tables and figures as one call each: generate, encode, measure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from tqdm.auto import tqdm

from frkit.base import listed, require
from frkit.representation.decisions import bias_amplification, cohort_spread
from frkit.representation.dependence import distance_correlation
from frkit.representation.experiments.crossed import crossed_faces, identity_encoder
from frkit.representation.experiments.debiasing import METHODS, biased_tasks, debiased
from frkit.representation.experiments.digits import coloured_digits, digit_encoder
from frkit.representation.experiments.spurious import spurious
from frkit.representation.mine import Critic
from frkit.representation.probes import dataset_bias, probe
from frkit.representation.rlb import representation_bias


def spurious_table(
    faces: xr.Dataset,
    attribute: str,
    *,
    seeds: int = 3,
    folds: int = 5,
    critic: Critic | None = None,
    seed: int = 0,
    progress: bool = True,
) -> xr.Dataset:
    """Table II: what predictor and RLB say where embedding and attribute have nothing to do with each other.

    Parameters
    ----------
    faces : faces Dataset of one encoder; `attribute` does not vary within an identity.
    attribute : name of the attribute.
    seeds : networks for each image, as in `representation_bias`.
    folds : number of folds by identity, 3 or more.
    critic : the statistics network of RLB, as in `representation_bias`.
    seed : non-negative integer, for the spurious versions.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset, dimension case: normal, R_S, R_G, Z_S, Z_G
        `accuracy`, `loss` of a linear predictor and `rlb`, `rlb_se`, all held out, with `accuracy_in_sample`,
        `loss_in_sample`, `rlb_in_sample`, `majority`; `dcor2` and its `p_value`.

    Raises
    ------
    InputError : as `spurious` and `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), Table II.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.representation.shifted_classes(120, 8, distance=4, per_identity=2)
    >>> table = spurious_table(faces, "group", seeds=1, folds=3, progress=False)
    >>> bool(table.rlb.sel(case="normal") > table.rlb.sel(case="R_G"))
    True
    """
    cases = spurious(faces, attribute, seed=seed)
    rows = []
    for one in tqdm(cases.values(), desc="cases", disable=not progress, leave=False):
        read = probe(one, attribute, folds=folds)
        bias = representation_bias(one, attribute, seeds=seeds, folds=folds, critic=critic, progress=False)
        dependence = distance_correlation(one, attribute)
        rows.append(
            xr.merge(
                [read, bias[["rlb", "rlb_se", "rlb_in_sample"]], dependence[["dcor2", "p_value"]]],
                combine_attrs="drop",
            )
        )
    return xr.concat(rows, xr.Variable("case", list(cases)))


def digit_bias(
    case: str,
    sigma: Sequence[float],
    *,
    sigma_test: float | None = None,
    width: int = 64,
    copies: int = 2,
    seeds: Iterable[int] = (0, 1, 2),
    critic: Critic | None = None,
    progress: bool = True,
) -> xr.Dataset:
    """Fig. 3b and 3c: bias of networks trained on coloured digits, against the spread of the training colours.

    Parameters
    ----------
    case : "moderate" or "extreme", as in `coloured_digits`.
    sigma : spreads of the colours in training.
    sigma_test : spread of the test colours; left out, that of training (Fig. 3b). The paper fixes .5 (Fig. 3c).
    width : hidden units of the network.
    copies : colours of each test digit.
    seeds : one network, with colours of its own, for each.
    critic : the statistics network of RLB, as in `representation_bias`; a small one is quicker.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset over seed and sigma
        `rlb`, `mutual_information` (nats), `dcor2` of hidden layer and `colour`; `dataset_bias` (how well the drawn
        test colour names the digit); `entropy` of `colour` (nats), `accuracy` in reading digits.

    Raises
    ------
    InputError : as `coloured_digits`.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-B and Fig. 3.

    Examples
    --------
    >>> found = digit_bias("moderate", [0.1], seeds=[0], copies=1, progress=False)
    >>> bool(found.rlb > 0.5)
    True
    """
    places = [(seed, spread) for seed in seeds for spread in sigma]
    found = {}
    for seed, spread in tqdm(places, desc="networks", disable=not progress, leave=False):
        train = coloured_digits(case, spread, part="train", seed=seed)
        test = coloured_digits(case, spread if sigma_test is None else sigma_test, copies=copies, seed=seed)
        found[seed, spread] = _digit_row(digit_encoder(train, width=width, seed=seed)(test), critic)
    rows = [xr.concat([found[seed, spread] for spread in sigma], xr.Variable("sigma", list(sigma))) for seed in seeds]
    return xr.concat(rows, xr.Variable("seed", list(seeds))).assign_attrs(case=case, width=width, copies=copies)


def _digit_row(test: xr.Dataset, critic: Critic | None) -> xr.Dataset:
    """All measures of one encoded test set."""
    colours = test.drop_vars(["embedding", "score"]).rename(drawn="embedding", rgb="feature")
    bias = representation_bias(test, "colour", seeds=1, critic=critic, progress=False)
    named = test.score.label.values[test.score.argmax("label").values]
    return bias[["rlb", "mutual_information", "entropy"]].assign(
        dcor2=distance_correlation(test, "colour", permutations=0).dcor2,
        dataset_bias=dataset_bias(colours, "digit"),
        accuracy=(named == test.digit.values).mean(),
    )


def crossed_bias(
    shares: Sequence[tuple[float, float]],
    *,
    n_test: int = 400,
    attribute: str | tuple[str, ...] | list = ("sex", "race"),
    seeds: Iterable[int] = (0, 1, 2),
    critic: Critic | None = None,
    progress: bool = True,
    **design,
) -> xr.Dataset:
    """Fig. 4: RLB on a balanced test set, of encoders trained on people with other shares of sex and race.

    Parameters
    ----------
    shares : (share of women, share of Black people) of each training set, each in (0, 1).
    n_test : people of the test set, five images of each; people whom no encoder was trained on.
    attribute : "sex", "race", both crossed, or a list of such, as in `representation_bias`.
    seeds : one training set and one test set for each.
    critic : the statistics network of RLB, as in `representation_bias`; a small one is quicker.
    progress : show a progress bar.
    **design : n_identities, per_identity, dim, strength of the training sets, as in `crossed_faces`.

    Returns
    -------
    xr.Dataset over seed and design (with coordinates `female`, `black`), and attribute where a list was given
        `rlb`, `rlb_se`, `mutual_information` (nats), `entropy` (nats, of the test set).

    Raises
    ------
    InputError : as `crossed_faces` and `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), Sections V-C and V-D, Fig. 4.

    Examples
    --------
    >>> found = crossed_bias([(0.5, 0.25)], n_test=80, seeds=[0], progress=False)
    >>> found.rlb.dims
    ('seed', 'design')
    """
    shape = {name: design[name] for name in ("dim", "strength") if name in design}
    rows = []
    for seed in tqdm(list(seeds), desc="seeds", disable=not progress, leave=False):
        test = crossed_faces(n_test, 5, crossed=False, seed=10_000 + seed, **shape)
        encoders = [identity_encoder(crossed_faces(female=f, black=b, seed=seed, **design)) for f, b in shares]
        seen = xr.concat([encode(test).embedding for encode in encoders], "model")
        faces = xr.Dataset({"embedding": seen}, test.coords).assign_coords(model=np.arange(len(encoders)).astype(str))
        bias = representation_bias(faces, attribute, seeds=1, critic=critic, progress=False)
        rows.append(bias[["rlb", "rlb_se", "mutual_information", "entropy"]].rename(model="design"))
    female, black = np.array(shares, float).T
    coords = {"female": ("design", female), "black": ("design", black)}
    return xr.concat(rows, xr.Variable("seed", list(seeds))).drop_vars("design").assign_coords(coords)


def debiasing_table(
    attribute: str,
    *,
    n: int = 2000,
    seeds: Iterable[int] = (0,),
    methods: Sequence[str] = METHODS,
    critic: Critic | None = None,
    progress: bool = True,
    **design,
) -> xr.Dataset:
    """Tables III and IV and Fig. 7: what each measure says of encoders debiased in five ways.

    Parameters
    ----------
    attribute : "sex" or "race": what is to be made invisible.
    n : images to train on, and as many others to test on.
    seeds : one pair of training and test set for each.
    methods : some of `METHODS`.
    critic : the statistics network of RLB, as in `representation_bias`; a small one is quicker.
    progress : show a progress bar.
    **design : female, tie, strength, as in `biased_tasks`.

    Returns
    -------
    xr.Dataset over seed and family
        `accuracy` and `average_precision` (also over group: sex, or race and sex), means over the eight labels;
        `overall_accuracy`, `overall_average_precision`; `bias_score` and `amplification`; `dcor2`;
        `mutual_information` (nats), `rlb`, and `rlb_plain` of a network without mapping layers.

    Raises
    ------
    InputError : as `biased_tasks` and `debiased`.

    References
    ----------
    Li & Abd-Almageed (2021), Section V-E, Tables III and IV, Fig. 7.

    Examples
    --------
    >>> found = debiasing_table("sex", n=400, methods=["baseline"], progress=False)
    >>> found.average_precision.dims
    ('seed', 'family', 'group')
    """
    unknown = [name for name in methods if name not in METHODS]
    require(not unknown, f"methods {listed(unknown)} are not known; known: {listed(METHODS)}")
    critic, rows = critic or Critic(), []
    for seed in tqdm(list(seeds), desc="seeds", disable=not progress, leave=False):
        train, test = (biased_tasks(n, seed=2 * seed + part, **design) for part in (0, 1))
        found = [
            _debiasing_row(train, debiased(train, attribute, method)(test), attribute, critic) for method in methods
        ]
        rows.append(xr.concat(found, xr.Variable("family", list(methods))))
    return xr.concat(rows, xr.Variable("seed", list(seeds))).assign_attrs(attribute=attribute, n=n)


def _debiasing_row(train: xr.Dataset, test: xr.Dataset, attribute: str, critic: Critic) -> xr.Dataset:
    """All measures of one method on one test set."""
    group = test[attribute].values
    cohort = group if attribute == "sex" else np.char.add(np.char.add(test.race.values, ", "), test.sex.values)
    tasks = [
        cohort_spread(truth, guess, cohort, score=score)
        for truth, guess, score in zip(test.label.values.T, test.predicted.values.T, test.score.values.T)
    ]
    spread = xr.concat(tasks, "task").mean("task")
    found = {name: spread.value.sel(metric=name, drop=True) for name in ("accuracy", "average_precision")}
    found |= {f"overall_{name}": spread.overall.sel(metric=name, drop=True) for name in found}
    score = bias_amplification(train.label.values, train[attribute].values, test.predicted.values, group)
    bias, plain = (
        representation_bias(test, attribute, seeds=1, critic=one, progress=False)
        for one in (critic, replace(critic, mapping=0))
    )
    return xr.Dataset(found).assign(
        bias_score=score.bias_score,
        amplification=score.amplification,
        dcor2=distance_correlation(test, attribute, permutations=0).dcor2,
        mutual_information=bias.mutual_information,
        rlb=bias.rlb,
        rlb_plain=plain.rlb,
    )
