"""Who is who, and what a square is: a right value, or a question whose answers work."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from named import named
from refusals import refused

import frkit as fk
from frkit.__main__ import main

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
N_PEOPLE, N_IMAGES = 24, 4
WHO = np.repeat(np.arange(N_PEOPLE), N_IMAGES)
SHOT = np.tile(np.arange(N_IMAGES), N_PEOPLE)
RNG = np.random.default_rng(3)
CENTRE = RNG.normal(size=(N_PEOPLE, 16))
X = CENTRE[WHO] + RNG.normal(size=(len(WHO), 16))
X /= np.linalg.norm(X, axis=1, keepdims=True)
S = X @ X.T
A = X @ (X + 0.05 * RNG.normal(size=X.shape)).T  # not symmetric
SAME = WHO[:, None] == WHO
OFF = ~np.eye(len(WHO), dtype=bool)
FIRST, SECOND = np.triu_indices(len(WHO), 1)
NAMES = np.array([f"p{k:02d}_{i}.jpg" for k, i in zip(WHO, SHOT)])
PEOPLE = np.array([f"p{k:02d}" for k in WHO])
BY_NUMBER = "{name}_{number}.jpg"


def frr(scores, genuine, far=0.1):
    """FRR, pooled over pairs, at the lowest threshold whose FAR is at most `far`."""
    impostor = np.sort(scores[~genuine])[::-1]
    threshold = impostor[int(np.floor(far * len(impostor)))]
    return np.mean(scores[genuine] <= threshold)


OF_PAIRS = frr(S[FIRST, SECOND], SAME[FIRST, SECOND])
OF_SQUARE = frr(A[OFF], SAME[OFF])
OF_TWO_SETS = frr(A.ravel(), SAME.ravel())


def frr_of(data):
    scores = fk.score_tensor(data) if isinstance(data, xr.Dataset) else data
    rates = fk.evaluate(scores, far=[0.1], weighting="pair")["empirical"]
    return float(rates.frr.squeeze())


def listed(names, diagonal=False, truth=False):
    """A function that writes a list of all pairs, without identities."""

    def write(folder):
        rows = np.tri(len(names), k=0 if diagonal else -1, dtype=bool).T
        table = pd.DataFrame({"a": names[rows.nonzero()[0]], "b": names[rows.nonzero()[1]]})
        table["score"] = S[rows]
        if truth:
            table["same"] = SAME[rows].astype(int)
        table.to_csv(folder / "list.txt", sep=" ", index=False, header=truth)
        return "list.txt"

    return write


def framed(values, rows, columns):
    """A function that writes a matrix with names on both sides."""

    def write(folder):
        pd.DataFrame(values, rows, columns).to_csv(folder / "matrix.csv")
        return "matrix.csv"

    return write


def stored(**arrays):
    """A function that writes an .npz."""

    def write(folder):
        np.savez(folder / "arrays.npz", **arrays)
        return "arrays.npz"

    return write


def single(folder):
    """An .npy, and a table of labels."""
    pd.DataFrame({"identity": PEOPLE}).to_csv(folder / "labels.csv", index=False)
    np.save(folder / "square.npy", A)
    return "square.npy"


def features(folder):
    """A table of names of images and numbered columns."""
    pd.DataFrame(X).add_prefix("f").assign(image=NAMES).to_csv(folder / "wide.csv", index=False)
    return "wide.csv"


SESSION = np.array([f"{k:03d}_{i // 2}_{i % 2}.ppm" for k, i in zip(WHO, SHOT)])
STYLE = np.array([f"spk{k:02d}-{('read', 'phone')[i % 2]}-{i:02d}.wav" for k, i in zip(WHO, SHOT)])
EYES = np.array([f"S{k // 2:03d}{'LR'[k % 2]}{i:02d}.jpg" for k, i in zip(WHO, SHOT)])
SCANNER = np.array([f"c{i % 2}/{k:03d}_{i % 2}_{i}.tif" for k, i in zip(WHO, SHOT)])
FINGERS = np.array([f"{k + 1}_{i + 1}.tif" for k, i in zip(WHO, SHOT)])
UPPER = np.where(np.triu(OFF), S, np.nan)
GALLERY = X @ (CENTRE / np.linalg.norm(CENTRE, axis=1, keepdims=True)).T
PERSONS = np.unique(PEOPLE)
TO_GALLERY = frr(GALLERY.ravel(), (WHO[:, None] == np.arange(N_PEOPLE)).ravel())

ASKED = {  # the file, what answers each question in turn, and the FRR then
    "sessions": (listed(SESSION), [{"identity": "{name}_{session}_{shot}.ppm"}], OF_PAIRS),
    "styles": (listed(STYLE), [{"identity": "{name}-{style}-{number}.wav"}], OF_PAIRS),
    "eyes": (listed(EYES), [{"identity": "{name}{number}.jpg"}], OF_PAIRS),
    "scanners": (listed(SCANNER), [{"identity": "{name}_{a}_{number}.tif"}], OF_PAIRS),
    "fingers": (listed(FINGERS), [{"identity": "{name}_{number}.tif"}], OF_PAIRS),
    "files with themselves": (listed(NAMES, diagonal=True), [{"identity": BY_NUMBER}], OF_PAIRS),
    "names of images": (framed(A, NAMES, NAMES), [{"identity": BY_NUMBER}], OF_SQUARE),
    "names of images as ids": (
        stored(scores=A, probe_ids=NAMES, gallery_ids=NAMES),
        [{"identity": BY_NUMBER}],
        OF_SQUARE,
    ),
    "images and people": (
        framed(GALLERY, NAMES, PERSONS),
        [{"kind": "matrix"}, {"identity": BY_NUMBER}],
        TO_GALLERY,
    ),
    "one set of people": (stored(scores=A, ids=PEOPLE), [{"same_images": True}], OF_SQUARE),
    "two sets of people": (stored(scores=A, ids=PEOPLE), [{"same_images": False}], OF_TWO_SETS),
    "an array": (
        single,
        [{"kind": "matrix"}, {"labels": "labels.csv"}, {"same_images": True}],
        OF_SQUARE,
    ),
    "an array of features": (single, [{"kind": "faces"}, {"labels": "labels.csv"}], None),
    "an array without a telling name": (
        stored(data=S, subject=PEOPLE),
        [{"kind": "matrix"}, {"same_images": True}],
        OF_PAIRS,
    ),
    "embeddings": (features, [{"identity": BY_NUMBER}], OF_PAIRS),
}


FEW = slice(0, 8 * N_IMAGES)
HALF, NAMES_OF_FEW = UPPER[FEW, FEW], NAMES[FEW]
PIVOT = pd.DataFrame(HALF[:-1, 1:], NAMES_OF_FEW[:-1], NAMES_OF_FEW[1:])
SHUFFLED = PIVOT.sample(frac=1, random_state=0)
OF_FEW = frr(HALF[np.isfinite(HALF)], SAME[FEW, FEW][np.isfinite(HALF)])
HALVES = {
    "a pivot": (PIVOT.values, PIVOT.index, PIVOT.columns),
    "a pivot in another order": (SHUFFLED.values, SHUFFLED.index, SHUFFLED.columns),
    "zeros": (np.nan_to_num(HALF), NAMES_OF_FEW, NAMES_OF_FEW),
}


@pytest.mark.parametrize("name", HALVES)
def test_a_half_matrix_is_refused_with_the_lines_that_complete_it(tmp_path, name):
    path = tmp_path / framed(*HALVES[name])(tmp_path)
    for options in ({}, {"identity": BY_NUMBER}, {"same_images": False}):
        with pytest.raises(fk.InputError, match=r"only one half .* frame.combine_first\(frame.T\)"):
            fk.open_data(path, **options)
    frame = pd.read_csv(path, index_col=0)
    frame = frame.where(frame != 0)
    data = fk.open_data(frame.combine_first(frame.T), identity=BY_NUMBER)
    assert frr_of(data) == pytest.approx(OF_FEW, abs=1e-4)


@pytest.mark.parametrize("name", ASKED)
def test_what_may_be_read_in_two_ways_is_asked(tmp_path, monkeypatch, name):
    write, answers, expected = ASKED[name]
    path, options = write(tmp_path), {}
    monkeypatch.chdir(tmp_path)
    for answer in answers:
        with pytest.raises(fk.InputError) as asked:
            fk.open_data(path, **options)
        assert any([*answer] == [*proposed] for proposed in asked.value.answers), asked.value
        options |= answer
    data = fk.open_data(path, **options)
    if expected is None:
        assert data.sizes["feature"] == len(WHO)
    else:
        assert frr_of(data) == pytest.approx(expected, abs=1e-4)


def lines_of(message, kind):
    return re.findall(f"^{kind}: (.*)", message, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_the_proposed_commands_and_lines_run(tmp_path, monkeypatch, capsys, name):
    """Each ends well, or with another question of its own."""
    path = ASKED[name][0](tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["look", path]) == 2
    message = capsys.readouterr().err
    commands = lines_of(message, "command")
    with pytest.raises(fk.InputError) as asked:
        fk.open_data(path)
    calls = lines_of(str(asked.value), "Python")
    assert len(commands) == len(calls) > 0, message
    ends = [main(shlex.split(command)[1:]) for command in commands if "..." not in command]
    assert 0 in ends or lines_of(capsys.readouterr().err, "command")
    for call, end in zip([call for call in calls if "..." not in call], ends):
        if end == 0:
            eval(call, {"fk": fk})


def test_a_pattern_of_names_is_used_where_the_truth_confirms_it(tmp_path):
    data = fk.open_data(tmp_path / listed(NAMES, truth=True)(tmp_path))
    assert {*named(data).probe_identity.values} <= {*PERSONS}
    assert "'{name}_{number}.jpg', which 'same' confirms" in data.attrs["columns"]
    assert frr_of(data) == pytest.approx(OF_PAIRS, abs=1e-6)


def test_a_pattern_that_the_truth_contradicts_once_is_asked_about(tmp_path):
    write = listed(NAMES, truth=True)
    table = pd.read_csv(tmp_path / write(tmp_path), sep=" ")
    table.loc[table.same.idxmax(), "same"] = 0
    with refused("same", "{name}_{number}.jpg") as asked:
        fk.open_data(table)
    by_truth, by_names = [fk.open_data(table, **answer) for answer in asked.value.answers]
    assert "identity" not in by_truth["images"] and "identity" in by_names["images"]


def test_the_question_counts_people_and_pairs_of_each_pattern(tmp_path):
    with pytest.raises(fk.InputError) as asked:
        fk.open_data(tmp_path / listed(SESSION)(tmp_path))
    n_all, n_session = N_IMAGES * (N_IMAGES - 1) // 2, 2
    for pattern, people, pairs in (
        ("{name}_{a}_{number}.ppm", N_PEOPLE, n_all * N_PEOPLE),
        ("{name}_{number}.ppm", 2 * N_PEOPLE, n_session * N_PEOPLE),
    ):
        assert f"{pattern}: {people} people, {pairs} genuine pairs" in str(asked.value)


@pytest.mark.parametrize("frame", [False, True])
def test_a_square_of_people_is_asked_about_in_python(frame):
    def matrix(values, **options):
        if frame:
            return fk.open_data(pd.DataFrame(values, PEOPLE, PEOPLE), kind="matrix", **options)
        return fk.score_matrix(values, PEOPLE, PEOPLE, **options)

    for values in (A, S, UPPER):  # whether it is symmetric or not
        with refused(answers=[{"same_images": True}, {"same_images": False}]):
            matrix(values)
    assert frr_of(matrix(A, same_images=True)) == pytest.approx(OF_SQUARE)
    assert frr_of(matrix(A, same_images=False)) == pytest.approx(OF_TWO_SETS)
    assert frr_of(matrix(S, same_images=True)) == pytest.approx(OF_PAIRS)
    with pytest.raises(fk.InputError, match="only one half"):
        matrix(UPPER, same_images=True)


def test_same_images_that_cannot_be_are_refused():
    with refused("square"):
        fk.score_matrix(A, PEOPLE, PEOPLE[::-1], same_images=True)


def test_images_of_one_name_that_are_hardly_like_themselves_are_asked_about(tmp_path):
    """Near infrared beside visible light: files of one name in two folders are two images."""
    others = np.lexsort([np.roll(SHOT, 1), WHO])  # another image of the same person
    scores = A[:, others]
    pd.DataFrame(scores, NAMES, NAMES).to_csv(tmp_path / "vis_nir.csv")
    options = {"identity": "{name}_{number}.jpg"}
    with refused(answers=[{"same_images": True}, {"same_images": False}]):
        fk.open_data(tmp_path / "vis_nir.csv", **options)
    of_one = frr(scores[OFF], SAME[OFF])
    of_two = frr(scores.ravel(), SAME.ravel())
    for same_images, expected in ((True, of_one), (False, of_two)):
        options["same_images"] = same_images
        data = fk.open_data(tmp_path / "vis_nir.csv", **options)
        assert frr_of(data) == pytest.approx(expected)
    data = fk.open_data(pd.DataFrame(A, NAMES, NAMES), identity=options["identity"])
    assert frr_of(data) == pytest.approx(OF_SQUARE)


@pytest.mark.parametrize("n_shared", [1, 30])
def test_images_of_one_name_in_a_rectangle_are_one_unless_the_user_says_otherwise(n_shared):
    """Probes of which some have the names of references."""
    rows, columns = slice(0, 40), slice(40 - n_shared, None)
    who = PEOPLE[rows], PEOPLE[columns]
    sides = {"probe": NAMES[rows], "reference": NAMES[columns]}
    values, is_same = A[rows, columns], SAME[rows, columns]
    is_other = OFF[rows, columns]
    for same_images in (None, True):
        of_one = fk.score_matrix(values, *who, same_images=same_images, **sides)
        assert frr_of(of_one) == pytest.approx(frr(values[is_other], is_same[is_other]))
    of_two = fk.score_matrix(values, *who, same_images=False, **sides)
    assert frr_of(of_two) == pytest.approx(frr(values.ravel(), is_same.ravel()))


def test_people_of_a_rectangle_need_no_answer():
    """Probes and references with several images of each person, as ids that occur again."""
    half = SHOT < 1
    table = pd.DataFrame(A[half][:, ~half], PEOPLE[half], PEOPLE[~half])
    expected = frr(A[half][:, ~half].ravel(), SAME[half][:, ~half].ravel())
    assert frr_of(fk.open_data(table, kind="matrix")) == pytest.approx(expected)


def test_two_equal_names_with_several_scores_are_people(tmp_path):
    table = pd.DataFrame({"id1": PEOPLE[FIRST], "id2": PEOPLE[SECOND], "score": S[FIRST, SECOND]})
    assert frr_of(fk.open_data(table)) == pytest.approx(OF_PAIRS)
    with refused("id1", "id2", "genuine"):
        fk.open_data(table.drop_duplicates(["id1", "id2"]))


@pytest.mark.parametrize("name", ["identity", "subject1"])
def test_names_in_a_column_called_otherwise_are_read_by_a_pattern(tmp_path, name):
    if name == "identity":
        np.savez(tmp_path / "f.npz", embedding=X, identity=NAMES)
        with pytest.raises(fk.InputError, match="no column has names of images") as asked:
            fk.open_data(tmp_path / "f.npz", identity=BY_NUMBER)
        data = fk.open_data(tmp_path / "f.npz", identity=BY_NUMBER, **asked.value.answers[0])
    else:
        sides = {"subject1": NAMES[FIRST], "subject2": NAMES[SECOND]}
        table = pd.DataFrame(sides | {"score": S[FIRST, SECOND]})
        with pytest.raises(fk.InputError, match="which columns have them") as asked:
            fk.open_data(table, identity=BY_NUMBER)
        data = fk.open_data(table, identity=BY_NUMBER, **asked.value.answers[0])
    assert frr_of(data) == pytest.approx(OF_PAIRS)


def test_look_counts_people_and_leaves_out_pairs_of_an_image_with_itself(tmp_path):
    path = tmp_path / listed(NAMES, diagonal=True)(tmp_path)
    n_pairs = len(NAMES) * (len(NAMES) + 1) // 2
    seen = fk.look(path, identity=BY_NUMBER)
    n_genuine = N_PEOPLE * N_IMAGES * (N_IMAGES - 1) // 2
    n_impostor = n_pairs - n_genuine - len(NAMES)
    assert f"{n_pairs:,} pairs: {n_genuine:,} genuine, {n_impostor:,} impostor" in seen
    assert f"{len(NAMES)} of an image with itself" in seen and f"{N_PEOPLE} people" in seen
