"""Files and calls that once gave a wrong number in silence: the right one, or one clear error."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
N_PEOPLE = 30
WHO = np.repeat(np.arange(N_PEOPLE), 2 + np.arange(N_PEOPLE) % 4)
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N_PEOPLE, 16))[WHO] + 0.9 * RNG.normal(size=(len(WHO), 16))
X /= np.linalg.norm(X, axis=1, keepdims=True)
S = X @ X.T
PEOPLE = np.array([f"s{k}" for k in WHO])
IMAGES = np.array([f"s{k}_{place}.png" for place, k in enumerate(WHO)])
FIRST, SECOND = np.triu_indices(len(WHO), 1)
SAME = WHO[FIRST] == WHO[SECOND]
ORDER = RNG.permutation(len(WHO))


def rates(scores, genuine, far=0.1):
    """FRR, pooled over pairs, at the lowest threshold whose FAR is at most `far`."""
    impostor = np.sort(scores[~genuine])[::-1]
    threshold = impostor[int(np.floor(far * len(impostor)))]
    return np.mean(scores[genuine] <= threshold)


def frr_of(data, **options):
    scores = fk.score_tensor(data) if isinstance(data, xr.Dataset) else data
    evaluation = fk.evaluate(scores, far=[0.1], **{"weighting": "pair"} | options)
    return evaluation["empirical"].frr.values.squeeze()


ALL_PAIRS = rates(S[FIRST, SECOND], SAME)

# --- one object of pandas among arrays ------------------------------------------------------------

BY_IMAGE = pd.Series(PEOPLE, IMAGES).sort_index()
LABELLED = xr.DataArray(PEOPLE[ORDER], coords={"image": IMAGES[ORDER]}, dims="image")
SQUARE = pd.DataFrame(S, IMAGES, IMAGES)
TWICE = dict(probe=IMAGES, reference=IMAGES)
JOINED = {
    "a Series by names": lambda: fk.faces(X, BY_IMAGE, image=IMAGES),
    "a Series by names, beside a frame": lambda: fk.faces(pd.DataFrame(X), BY_IMAGE, image=IMAGES),
    "an array of xarray by names": lambda: fk.faces(X, LABELLED, image=[*IMAGES]),
    "a frame by names": lambda: fk.faces(pd.DataFrame(X, IMAGES).iloc[ORDER], PEOPLE, image=IMAGES),
    "both sides of a matrix": lambda: fk.score_matrix(S, BY_IMAGE, BY_IMAGE, **TWICE),
    "rows of a frame": lambda: fk.score_matrix(SQUARE.iloc[ORDER], PEOPLE, PEOPLE, **TWICE),
    "columns of a frame": lambda: fk.score_matrix(SQUARE.iloc[:, ORDER], PEOPLE, PEOPLE, **TWICE),
    "rows in order": lambda: fk.faces(X, pd.Series(PEOPLE)),
}


@pytest.mark.parametrize("case", JOINED)
def test_one_labelled_object_among_arrays_is_joined_by_names(case):
    np.testing.assert_allclose(frr_of(JOINED[case]()), ALL_PAIRS)


def test_attributes_are_joined_by_names():
    group = pd.Series(np.where(WHO % 3 == 0, "A", "B"), IMAGES)
    faces = fk.faces(X, PEOPLE, image=IMAGES, group=group.iloc[ORDER])
    np.testing.assert_array_equal(faces.group, group)


UNORDERED = {
    "names that are not given": lambda: fk.faces(X, BY_IMAGE),
    "coordinates that are not given": lambda: fk.faces(X, LABELLED),
    "sorted": lambda: fk.faces(X, pd.Series(PEOPLE).sort_values()),
    "rows of a larger table": lambda: fk.faces(X, pd.Series(PEOPLE, range(7, len(WHO) + 7))),
    "a matrix": lambda: fk.score_matrix(S, BY_IMAGE, BY_IMAGE),
    "truth of pairs": lambda: fk.pairs(
        S[FIRST, SECOND], pd.Series(SAME).sample(frac=1, random_state=0)
    ),
    "scores of pairs": lambda: fk.pairs(pd.Series(S[FIRST, SECOND]).sort_values(), SAME),
    "one side of an attribute": lambda: fk.pairs(
        S[FIRST, SECOND], SAME, sex=(pd.Series(PEOPLE[FIRST]).sort_values(), None)
    ),
}


@pytest.mark.parametrize("case", UNORDERED)
def test_one_labelled_object_in_an_order_of_its_own_is_refused(case):
    with pytest.raises(fk.InputError, match=r"give \w+\.to_numpy\(\) if its rows are in the order"):
        UNORDERED[case]()


# --- an evaluation whose nodes no longer agree ----------------------------------------------------


def evaluated():
    faces = fk.faces(X, PEOPLE, group=np.where(WHO % 2, "A", "B"))
    return fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], by="group")


def in_another_order(evaluation, dim):
    rates = evaluation["empirical"].to_dataset()
    evaluation["empirical"] = xr.DataTree(rates.sortby(dim, ascending=False))


def edited(evaluation, name):
    evaluation["empirical"][name].values[..., 0] = 0.015


CHANGED = {
    "levels": lambda evaluation: in_another_order(evaluation, "far_level"),
    "groups": lambda evaluation: in_another_order(evaluation, "group"),
    "values": lambda evaluation: [edited(evaluation, name) for name in ("frr", "frr_group")],
}
ASKED = {
    "band": lambda evaluation: fk.band(evaluation, "frr_group"),
    "comparison": lambda evaluation: fk.compare(evaluation, "frr_group", groups=("A", "B")),
    "floor": lambda evaluation: fk.fair_floor(evaluation, "frr_max_min"),
}


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("case", CHANGED)
def test_rates_that_were_changed_have_no_interval(case, question):
    evaluation = evaluated()
    ASKED[question](evaluation)
    CHANGED[case](evaluation)
    with pytest.raises(fk.InputError, match="its values or its order were changed"):
        ASKED[question](evaluation)


def test_an_edited_file_of_an_evaluation_has_no_interval(tmp_path):
    path = tmp_path / "evaluation.nc"
    evaluation = evaluated()
    edited(evaluation, "frr")
    evaluation.to_netcdf(path, engine="h5netcdf")
    stored = fk.open_evaluation(path)
    with pytest.raises(fk.InputError, match="its values or its order were changed"):
        fk.band(stored, "frr")
    fk.band(stored, "frr_group")

