"""Identities crossed with sex and race at preset shares, and RLB of encoders of them (Fig. 4)."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import xarray as xr
from scipy.optimize import brentq
from scipy.special import entr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from frkit.base import require, require_flag, require_inside, require_whole
from frkit.data.dataset import faces, stack_models
from frkit.representation import Critic, representation_bias
from frkit.studies.along import along

SEX = ("female", "male")
RACE = ("Black", "White", "East Asian", "Indian")
# corners of a tetrahedron: any two have the distance 1
CORNERS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)


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
    """Draw images as vectors: identity, plus sex along one axis and race along three, plus noise.

    Parameters
    ----------
    n_identities, per_identity : int
        Number of identities, and images of each; at least 1.
    female, black : float
        Shares in (0, 1). The other races have equal parts of the rest.
    crossed : bool
        True: every image draws its own sex and race, as in the paper's synthetic faces. False:
        each person has one sex and one race, in numbers as near to the shares as possible.
    dim : int
        Number of features, at least 4.
    strength : float
        Distance between the sexes, and between any two races, in standard deviations of the
        identities.
    seed : int
        Seed of all that is drawn.

    Returns
    -------
    xr.Dataset
        Faces with the attributes `sex` and `race`.

    Raises
    ------
    InputError
        A share outside (0, 1), or a number of images that is not whole.

    References
    ----------
    Li & Abd-Almageed (2021), V-C, V-D.

    Examples
    --------
    >>> from frkit.studies import crossed_faces
    >>> dict(crossed_faces(20, 4, female=0.2).sizes)
    {'image': 80, 'feature': 12}
    """
    require_whole("per_identity", per_identity, 1)
    require_flag("crossed", crossed)
    require_inside("female", female, 0, 1)
    require_inside("black", black, 0, 1)
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_identities), per_identity)
    race_shares = [black, *3 * [(1 - black) / 3]]
    shares = np.outer([female, 1 - female], race_shares).ravel()
    if crossed:
        cell = rng.choice(shares.size, person.size, p=shares)
    else:
        places = (np.arange(n_identities) + 0.5) / n_identities
        cell = rng.permutation(np.searchsorted(np.cumsum(shares), places))[person]
    sex, race = np.divmod(cell, len(RACE))
    values = rng.standard_normal((n_identities, dim))[person]
    values += rng.standard_normal((person.size, dim))
    values[:, 0] += strength * (sex - 0.5)
    values[:, 1:4] += strength * CORNERS[race]
    return faces(
        values,
        np.char.mod("id%04d", person),
        varying="keep" if crossed else "error",
        sex=np.array(SEX)[sex],
        race=np.array(RACE)[race],
    )


def identity_encoder(train: xr.Dataset, *, width: int = 8) -> Callable[[xr.Dataset], xr.Dataset]:
    """Train a linear discriminant encoder to separate the identities of faces.

    Parameters
    ----------
    train : xr.Dataset
        Faces (image, feature), with several images of every identity.
    width : int
        Number of features of the encoder, at least 1 and fewer than identities.

    Returns
    -------
    callable
        A function that takes other faces and returns them with the encoder's features as
        `embedding`.

    Examples
    --------
    >>> from frkit.studies import crossed_faces, identity_encoder
    >>> encode = identity_encoder(crossed_faces(40, 6), width=3)
    >>> encode(crossed_faces(20, 4, seed=1)).sizes["feature"]
    3
    """
    discriminant = LinearDiscriminantAnalysis(n_components=width)
    discriminant.fit(train["embedding"].values, train["identity"].values)

    def encode(others):
        values = discriminant.transform(others["embedding"].values).astype(np.float32)
        return others.assign(embedding=(("image", "feature"), values))

    return encode


def dominant_share(entropy: float, classes: int) -> float:
    """Find the share of one class at which classes have an entropy, the others being equal.

    Parameters
    ----------
    entropy : float
        Nats, in (0, log(classes)].
    classes : int
        At least 2.

    Returns
    -------
    float
        In [1/classes, 1).

    Raises
    ------
    InputError
        An entropy outside that range, or fewer than two classes.

    References
    ----------
    Li & Abd-Almageed (2021), V-D: data sets of a preset entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from frkit.studies import dominant_share
    >>> round(dominant_share(0.5, 2), 4), dominant_share(np.log(4), 4)
    (0.8003, 0.25)
    """
    highest = np.log(require_whole("classes", classes, 2))
    inside = 0 < entropy <= highest + 1e-9
    require(inside, f"entropy must lie in (0, {highest:.4g}] nats, got {entropy}")

    def excess(share):
        rest = (1 - share) / (classes - 1)
        return float(entr(share) + (classes - 1) * entr(rest)) - entropy

    if excess(1 / classes) <= 0:
        return 1 / classes
    return float(brentq(excess, 1 / classes, 1 - 1e-12))


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
    """Estimate RLB of encoders that were trained on people with other shares of sex and race.

    Parameters
    ----------
    shares : sequence of (float, float)
        Shares of women and of Black people in each training set.
    n_test : int
        People of the balanced test set, five images of each. No encoder knows them.
    attribute, critic
        As in `representation_bias`.
    seeds : sequence of int
        Each gives one training set and one test set.
    progress : bool
        Whether to show a progress bar.
    **design
        n_identities, per_identity, dim and strength, as in `crossed_faces`.

    Returns
    -------
    xr.Dataset
        `rlb`, `rlb_se`, `mutual_information` and `entropy` (nats) over seed and design (with the
        coordinates `female` and `black`), and over attribute where a list was given.

    Raises
    ------
    InputError
        As `crossed_faces` and `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 4.

    Examples
    --------
    >>> from frkit.representation import Critic
    >>> from frkit.studies import crossed_bias
    >>> quick = Critic(iterations=20)
    >>> study = crossed_bias([(0.5, 0.25)], n_test=80, seeds=[0], critic=quick, progress=False)
    >>> study.rlb.dims
    ('seed', 'design')
    """
    female, black = np.transpose(shares)
    test_design = design | {"n_identities": n_test, "per_identity": 5}

    def for_seed(seed):
        test = crossed_faces(crossed=False, seed=10_000 + seed, **test_design)
        encoded = {}
        for number, (women, black_people) in enumerate(shares):
            train = crossed_faces(female=women, black=black_people, seed=seed, **design)
            encoded[str(number)] = identity_encoder(train)(test)
        bias = representation_bias(
            stack_models(encoded), attribute, seeds=1, critic=critic, progress=False
        )
        bias = bias[["rlb", "rlb_se", "mutual_information", "entropy"]]
        return bias.rename(model="design").drop_vars("design")

    coords = {"female": ("design", female), "black": ("design", black)}
    return along("seed", seeds, for_seed, progress).assign_coords(coords)
