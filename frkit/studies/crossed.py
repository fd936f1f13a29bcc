"""Identities crossed with sex and race at preset shares, encoders trained on them, and their RLB (Fig. 4)."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import xarray as xr
from scipy.optimize import brentq
from scipy.special import entr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, require
from frkit.data.dataset import faces, stack_models
from frkit.representation import Critic, representation_bias
from frkit.studies.along import along

SEX = ("female", "male")
RACE = ("Black", "White", "East Asian", "Indian")
TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(
    8
)  # any two at distance 1


def crossed_faces(
    n_identities: int = 40,
    per_identity: int = 10,
    *,
    female: float = 0.5,
    black: float = 0.25,
    crossed: bool = True,
    dim: int = 12,
    strength: float = 4.0,
    seed: int = 0,
) -> xr.Dataset:
    """Images as vectors: who is shown, plus sex along one axis, plus race along three others, plus noise.

    female, black: shares in (0, 1); the other races have equal parts of the rest. dim: features, 4 or more. strength:
    distance between the sexes, and between any two races, in standard deviations of the identities. crossed: every
    image draws its sex and race anew, as in the paper's synthetic faces; otherwise each person has one of both, with
    counts as near to the shares as can be: the form of a test set. Returns a faces Dataset with the attributes `sex`
    and `race`. Raises InputError for a share outside (0, 1) or too few features. Li & Abd-Almageed (2021), V-C, V-D.

    >>> dict(crossed_faces(20, 4, female=0.2).sizes)
    {'image': 80, 'feature': 12}
    """
    require(
        0 < female < 1 and 0 < black < 1,
        f"shares must lie in (0, 1), got female {female}, black {black}",
    )
    require(dim >= 4, f"dim must be 4 or more, for sex and race have four axes; got {dim}")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    person = np.repeat(np.arange(n_identities), per_identity)
    shares = np.outer([female, 1 - female], [black, *3 * [(1 - black) / 3]]).ravel()
    if crossed:
        cell = rng.choice(shares.size, person.size, p=shares)
    else:
        places = (np.arange(n_identities) + 0.5) / n_identities
        cell = rng.permutation(np.searchsorted(np.cumsum(shares), places))[person]
    values = rng.standard_normal((n_identities, dim))[person] + rng.standard_normal(
        (person.size, dim)
    )
    sex, race = np.divmod(cell, len(RACE))
    values[:, 0] += strength * (sex - 0.5)
    values[:, 1:4] += strength * TETRAHEDRON[race]
    labels = {"sex": np.array(SEX)[sex], "race": np.array(RACE)[race]}
    return faces(
        values, np.char.mod("id%04d", person), varying="keep" if crossed else "error", **labels
    )


def identity_encoder(known: xr.Dataset, *, width: int = 8) -> Callable[[xr.Dataset], xr.Dataset]:
    """A linear discriminant encoder, trained to tell the identities of known faces apart.

    known: faces Dataset (image, feature), several images of every identity. width: features that it keeps, 1 or more.
    Returns a function of another faces Dataset: the same with the encoder's features as `embedding`. Raises
    InputError for a width that the data do not allow.

    >>> encode = identity_encoder(crossed_faces(40, 6), width=3)
    >>> encode(crossed_faces(20, 4, seed=1)).sizes["feature"]
    3
    """
    limit = min(known.sizes[FEATURE], np.unique(known[IDENTITY]).size - 1)
    require(1 <= width <= limit, f"width must lie in 1 to {limit} for these faces, got {width}")
    discriminant = LinearDiscriminantAnalysis(n_components=width)
    discriminant.fit(known["embedding"].values, known[IDENTITY].values)

    def encode(others: xr.Dataset) -> xr.Dataset:
        values = discriminant.transform(others["embedding"].values).astype(np.float32)
        return others.assign(embedding=((IMAGE, FEATURE), values))

    return encode


def dominant_share(entropy: float, classes: int) -> float:
    """The share of one class, in [1/classes, 1), at which the entropy is reached while the others are equal.

    entropy: nats, in (0, log(classes)]. classes: 2 or more. Raises InputError for an entropy outside that range.
    Li & Abd-Almageed (2021), Section V-D: datasets of a preset entropy.

    >>> round(dominant_share(0.5, 2), 4), dominant_share(np.log(4), 4)
    (0.8003, 0.25)
    """
    highest = np.log(classes)
    require(
        0 < entropy <= highest + 1e-9, f"entropy must lie in (0, {highest:.4g}] nats, got {entropy}"
    )

    def excess(share: float) -> float:
        return float(entr(share) + (classes - 1) * entr((1 - share) / (classes - 1))) - entropy

    return float(brentq(excess, 1 / classes, 1 - 1e-12)) if excess(1 / classes) > 0 else 1 / classes


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

    shares: (of women, of Black people) in each training set. n_test: people whom no encoder knows, five images of
    each. attribute, critic: as in `representation_bias`. seeds: one training set and one test set for each. design:
    n_identities, per_identity, dim, strength, as in `crossed_faces`. Returns `rlb`, `rlb_se`, `mutual_information`
    and `entropy` (nats) over seed and design (with coordinates `female`, `black`), and attribute where a list was
    given. Raises InputError as `crossed_faces` and `representation_bias`.

    >>> how = dict(n_test=80, seeds=[0], critic=Critic(iterations=20), progress=False)
    >>> crossed_bias([(0.5, 0.25)], **how).rlb.dims
    ('seed', 'design')
    """
    shape = {name: design[name] for name in ("dim", "strength") if name in design}
    female, black = np.array(shares, float).T

    def of_seed(seed: int) -> xr.Dataset:
        test = crossed_faces(n_test, 5, crossed=False, seed=10_000 + seed, **shape)
        trained = [crossed_faces(female=f, black=b, seed=seed, **design) for f, b in shares]
        encoded = stack_models(
            {str(k): identity_encoder(one)(test) for k, one in enumerate(trained)}
        )
        bias = representation_bias(encoded, attribute, seeds=1, critic=critic, progress=False)
        return (
            bias[["rlb", "rlb_se", "mutual_information", "entropy"]]
            .rename({MODEL: "design"})
            .drop_vars("design")
        )

    coords = {"female": ("design", female), "black": ("design", black)}
    return along("seed", seeds, of_seed, progress).assign_coords(coords)
