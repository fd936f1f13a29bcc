"""What a column or an array means is read where it is clear, and asked where it is not."""

import re
import shlex
from functools import cache

import numpy as np
import pandas as pd
import pytest
from named import named
from refusals import noticed, refused
from report_faces import only_parts

import frkit as fk
from frkit.__main__ import main

FAR = [0.01, 0.1]
RNG = np.random.default_rng(11)
WHO = np.repeat(np.arange(30), 4)
CENTRES = RNG.normal(size=(30, 16))
VECTORS = CENTRES[WHO] + 0.9 * RNG.normal(size=(len(WHO), 16))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
IMAGES = np.array([f"p{who:02d}_{k % 4}.jpg" for k, who in enumerate(WHO)])
FIRST, SECOND = np.triu_indices(len(WHO), 1)
SAME = WHO[FIRST] == WHO[SECOND]
COSINE = (VECTORS @ VECTORS.T)[FIRST, SECOND].round(6)
DOCUMENT = pd.DataFrame(
    {
        "id_photo": IMAGES[FIRST],
        "selfie": IMAGES[SECOND],
        "same_person": np.where(SAME, "match", "non-match"),
        "similarity": COSINE,
    }
)
OF_IMAGES = {"probe": "id_photo", "reference": "selfie"}
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def right_frr(scores=COSINE, same=SAME):
    """Share of genuine scores at or below the threshold, by sorting."""
    impostors = np.sort(scores[~same])[::-1]
    thresholds = [impostors[int(np.floor(far * len(impostors) + 1e-9))] for far in FAR]
    return [np.mean(scores[same] <= threshold) for threshold in thresholds]


def frr_of(pairs):
    return fk.evaluate(pairs, far=FAR, weighting="pair")["empirical"].frr.values


def saved(path, table, **options):
    table.to_csv(path, index=False, **options)
    return path


def answers_of(open_source, *arguments, **options):
    """The answers that a question proposes, each of which has no gap."""
    with pytest.raises(fk.InputError) as question:
        open_source(*arguments, **options)
    return question.value.answers


# --- names of images ---

NAMES = [
    ("id_photo", "selfie"),
    ("ref_file", "query_file"),
    ("anchor", "candidate"),
    ("enrolled_img", "verified_img"),
    ("doc_1", "doc_2"),
    ("first picked", "then picked"),
]


def band_of(pairs):
    return fk.band(fk.evaluate(pairs, far=FAR, weighting="pair"), "frr")


@cache
def band_of_known():
    """The interval of the same pairs, whose people are given."""
    people = {"probe_identity": WHO[FIRST], "reference_identity": WHO[SECOND]}
    return band_of(fk.pairs(COSINE, SAME, IMAGES[FIRST], IMAGES[SECOND], **people))


@pytest.mark.parametrize("names", NAMES)
def test_columns_of_many_names_are_asked_about(tmp_path, names):
    table = DOCUMENT.rename(columns=dict(zip(("id_photo", "selfie"), names)))
    path = saved(tmp_path / "t.csv", table)
    of_images, _, of_none = answers_of(fk.open_data, path)
    for data in (fk.open_data(path, **of_images), fk.open_data(table, **of_images)):
        assert named(data).probe.values.tolist() == IMAGES[FIRST].tolist()
    right, band = band_of_known(), band_of(data)
    np.testing.assert_allclose(band.estimate, right_frr(), atol=1e-12)
    np.testing.assert_allclose(band.lower, right.lower, atol=1e-9)
    np.testing.assert_allclose(band.upper, right.upper, atol=1e-9)
    np.testing.assert_allclose(frr_of(fk.open_data(path, **of_none)), right_frr())


@pytest.mark.parametrize("kind", ["numbers", "a clock", "attributes"])
def test_images_beside_other_columns_are_found_or_asked_about(kind):
    table = DOCUMENT.copy()
    if kind == "numbers":
        table["id_photo"], table["selfie"] = 100 + FIRST, 100 + SECOND
    elif kind == "a clock":
        table["when"] = pd.date_range("2024-01-01", periods=len(table), freq="min").astype(str)
    else:
        cities = np.array([f"city {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"])
        table["home"], table["away"] = cities[WHO[FIRST] % 26], cities[WHO[SECOND] % 26]
    table = table.rename(columns={"selfie": "then"})
    [answer, *_] = answers_of(fk.open_data, table)
    if kind == "attributes":  # which are asked about, too
        answer["columns"] |= {"home": "home", "away": "away"}
    data = fk.open_data(table, **answer)
    assert named(data).probe.values.tolist() == table.id_photo.astype(str).tolist()
    np.testing.assert_allclose(frr_of(data), right_frr())


def test_names_that_are_not_of_one_kind_are_asked_about(tmp_path, capsys):
    table = DOCUMENT.assign(
        id_photo="documents/"
        + DOCUMENT.id_photo.str[1:3]
        + "-a"
        + DOCUMENT.id_photo.str[4]
        + ".png"
    )
    table = table.rename(columns={"id_photo": "first picked", "selfie": "then picked"})
    path = saved(tmp_path / "t.csv", table)
    for answer in answers_of(fk.open_data, path)[::2]:
        np.testing.assert_allclose(frr_of(fk.open_data(path, **answer)), right_frr())
    assert main(["look", str(path)]) == 2
    command = next(line for line in capsys.readouterr().err.splitlines() if "command: " in line)
    assert main(shlex.split(command)[2:]) == 0


def test_images_that_are_called_people_are_named_in_the_answer():
    table = DOCUMENT.rename(columns={"id_photo": "subject_1", "selfie": "subject_2"})
    [answer] = answers_of(fk.open_data, table)
    assert answer == {"columns": {"probe": "subject_1", "reference": "subject_2"}}
    np.testing.assert_allclose(frr_of(fk.open_data(table, **answer)), right_frr())


def test_both_directions_of_a_pair_with_one_score_count_once(tmp_path):
    turned = DOCUMENT.rename(columns={"id_photo": "selfie", "selfie": "id_photo"})
    both = pd.concat([DOCUMENT, turned[DOCUMENT.columns]], ignore_index=True)
    with noticed(f"{len(DOCUMENT):,} pairs"):
        data = fk.open_data(saved(tmp_path / "t.csv", both), columns=OF_IMAGES)
    assert named(data).sizes["pair"] == len(DOCUMENT)
    both.loc[len(both) - 1, "similarity"] += 0.01
    assert named(fk.open_data(both, columns=OF_IMAGES)).sizes["pair"] == len(both)


def test_two_files_of_one_kind_with_names_are_one_table(tmp_path):
    for name, rows in (("genuine", SAME), ("impostor", ~SAME)):
        DOCUMENT[rows].drop(columns="same_person").to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "genuine.csv", tmp_path / "impostor.csv"]
    with pytest.raises(fk.InputError, match="one number in each line.*pd.concat"):
        fk.open_data(files)
    genuine, impostor = map(pd.read_csv, files)
    kinds = [genuine.assign(genuine=1), impostor.assign(genuine=0)]
    both = pd.concat(kinds, ignore_index=True)
    np.testing.assert_allclose(frr_of(fk.open_data(both, columns=OF_IMAGES)), right_frr())


# --- truth ---

KIND = np.where(SAME, "target", "nontarget")


def rows_of(frame, label, *named, **options):
    """The rows that a refusal says in Python; `frame` and `LABEL` are names in that line."""
    with refused(*named) as refusal:
        fk.open_data(options.pop("path", frame), **options)
    line = re.search(r"frame\[frame\[.*?\](?:\.isin\(.*?\)| == LABEL)\]", str(refusal.value))[0]
    return eval(line, {"frame": frame, "LABEL": label})


def test_presentation_attacks_get_the_line_that_keeps_the_other_rows(tmp_path):
    kind = np.where(np.arange(len(KIND)) % 3 == 0, "spoof", KIND)
    rest = kind != "spoof"
    right = right_frr(COSINE[rest], SAME[rest])
    table = pd.DataFrame({"a": "bona fide 1", "kind": kind, "score": COSINE})
    options = {"columns": {"genuine": "kind", "score": "score"}}
    path = saved(tmp_path / "joint.csv", table)
    others = rows_of(table, None, "spoof", path=path, **options)
    np.testing.assert_allclose(frr_of(fk.open_data(others, **options)), right)
    table = pd.DataFrame({"probe_attack_type": np.where(rest, "no", "print"), "mated": KIND})
    others = rows_of(table.assign(score=COSINE), "no", "attacks", "probe_attack_type")
    np.testing.assert_allclose(frr_of(fk.open_data(others)), right)
    liveness = np.where(rest, "bona fide", "attack")
    table = pd.DataFrame({"l": liveness, "mated": KIND, "score": COSINE})
    others = rows_of(table, "bona fide", "attacks", "l")
    np.testing.assert_allclose(frr_of(fk.open_data(others)), right)


WORDS_OF_TRUTH = "ja nein, Ja Nein, oui non, sí no, tak nie, sim não, WAHR FALSCH, VRAI FAUX"


@pytest.mark.parametrize("words", [*WORDS_OF_TRUTH.split(", "), "VERDADERO FALSO"])
def test_words_of_truth_in_other_languages_are_read(words):
    genuine, impostor = words.split()
    table = DOCUMENT.assign(same_person=np.where(SAME, genuine, impostor))
    np.testing.assert_allclose(frr_of(fk.open_data(table, columns=OF_IMAGES)), right_frr())
    other = table.rename(columns={"same_person": "glasses"})
    with refused("genuine"):  # it may be any kind of answer
        fk.open_data(other, columns=OF_IMAGES)


def test_a_word_of_truth_that_nobody_knows_is_refused_with_its_line():
    table = DOCUMENT.assign(same_person=np.where(SAME, "hai", "iie"))
    with pytest.raises(fk.InputError):
        fk.open_data(table)
    with refused("row 1", "same_person", "hai"):
        fk.open_data(table, columns={"genuine": "same_person"})


@pytest.mark.parametrize(
    "comment", ["# made by us", "# scores", "#", "#probe reference score label"]
)
def test_comments_before_lines_without_a_header(tmp_path, comment):
    lines = [
        f"{a} {b} {score} {int(same)}"
        for a, b, score, same in zip(IMAGES[FIRST], IMAGES[SECOND], COSINE, SAME)
    ]
    (tmp_path / "t.txt").write_text("\n".join([comment, *lines]))
    data = fk.open_data(tmp_path / "t.txt")
    assert named(data).sizes["pair"] == len(SAME)
    np.testing.assert_allclose(frr_of(data), right_frr())


# --- arrays, labels, HDF5 ---


def test_arrays_without_names_are_asked_about(tmp_path):
    take = np.arange(len(WHO)) % 4 < 2
    who = np.array([f"p{k}" for k in WHO])
    np.savez(tmp_path / "a.npz", VECTORS[take], who[take], VECTORS[~take][:-2], who[~take][:-2])
    answers = answers_of(fk.open_data, tmp_path / "a.npz")
    assert answers == [{"columns": {"embedding": name}} for name in ("arr_0", "arr_2")]
    for answer, people, n_images in zip(answers, ("arr_1", "arr_3"), (60, 58)):
        answer["columns"]["identity"] = people
        assert fk.open_data(tmp_path / "a.npz", **answer).sizes["image"] == n_images
    columns = {"embedding": ["arr_0", "arr_2"], "identity": "arr_1"}
    with refused("identity", 60, 58):
        fk.open_data(tmp_path / "a.npz", columns=columns)


@pytest.mark.slow
@pytest.mark.usefixtures("brief_reports")
def test_a_group_of_one_image_cannot_be_decided(tmp_path, capsys):
    glasses = np.where(np.arange(len(WHO)) == 7, "rare", np.where(WHO % 2, "yes", "no"))
    people = saved(tmp_path / "people.csv", pd.DataFrame({"image": IMAGES, "glasses": glasses}))
    path = saved(
        tmp_path / "t.csv", DOCUMENT.rename(columns=dict(zip(OF_IMAGES.values(), OF_IMAGES)))
    )
    command = ["report", str(path), "--labels", str(people), "--by", "glasses", "--quick", "--far"]
    with only_parts("groups"):
        assert main([*command, "0.1", "-o", str(tmp_path / "out")]) == 0
    assert "FRR of 'rare' is not known" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "nan" not in page.lower().split("groups")[1][:2000]


@pytest.mark.parametrize("kind", ["external", "link", "virtual"])
def test_hdf5_that_reads_another_file_is_refused(tmp_path, kind):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "raw.bin").write_bytes(VECTORS.tobytes())
    with h5py.File(tmp_path / "whole.h5", "w") as file:
        file["embedding"], file["identity"] = VECTORS, WHO
    with h5py.File(tmp_path / f"{kind}.h5", "w") as file:
        file["identity"] = WHO
        if kind == "external":
            raw = [(str(tmp_path / "raw.bin"), 0, VECTORS.nbytes)]
            file.create_dataset("embedding", VECTORS.shape, "f8", external=raw)
        elif kind == "link":
            file["embedding"] = h5py.ExternalLink("whole.h5", "embedding")
        else:
            layout = h5py.VirtualLayout(VECTORS.shape, "f8")
            source = h5py.VirtualSource(tmp_path / "whole.h5", "embedding", VECTORS.shape)
            layout[:] = source
            file.create_virtual_dataset("embedding", layout)
    assert fk.open_data(tmp_path / "whole.h5").sizes["image"] == len(WHO)
    with refused(f"{kind}.h5", "embedding"):
        fk.open_data(tmp_path / f"{kind}.h5")
