"""Files as other programs write them: the same pairs, or the same images, in each form."""

import pickle
import re
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from door_files import opened
from named import named
from refusals import noticed, refused
from scipy.io import savemat

import frkit as fk
from frkit.__main__ import main

PEOPLE = np.repeat([f"Person_{k:02d}" for k in range(16)], 3)
IMAGES = np.array([f"{who}_{k % 3:04d}.jpg" for k, who in enumerate(PEOPLE)])
CODES = np.repeat(np.arange(16) + 1001, 3)
RNG = np.random.default_rng(4)
EMBEDDING = (RNG.normal(size=(16, 6)).repeat(3, 0) + 0.5 * RNG.normal(size=(48, 6))).astype("f4")
FIRST, SECOND = np.triu_indices(48, 1)
UNIT = EMBEDDING.astype(float) / np.linalg.norm(EMBEDDING.astype(float), axis=1, keepdims=True)
SCORE = np.sum(UNIT[FIRST] * UNIT[SECOND], axis=1)
GENUINE = PEOPLE[FIRST] == PEOPLE[SECOND]


def in_hdf5(path):
    with h5py.File(path, "w") as file:
        file["features"] = EMBEDDING
        file["subject_ids"] = CODES
        file["filenames"] = np.array(IMAGES.tolist(), h5py.string_dtype())


def with_structs(path):
    columns = {"identity_id": CODES, "facial_area": [{"x": 1, "y": 2}] * 48, "emb": [*EMBEDDING]}
    pictures = [{"bytes": b"\x89PNG\xff", "path": name} for name in IMAGES]
    pd.DataFrame(columns).assign(image=pictures, tags=[["a"]] * 48).to_parquet(path)


def lines_of_numbers(path):
    vectors = [" ".join(map(repr, row.tolist() * 2)) for row in EMBEDDING]
    pd.DataFrame({"subject": PEOPLE, "vec": vectors}).to_csv(path, index=False)


def without_header(path):
    pd.DataFrame(np.hstack([EMBEDDING, EMBEDDING]), IMAGES).to_csv(path, header=False)


FACES = {
    "lines.csv": lines_of_numbers,
    "names in the index.csv": lambda path: pd.DataFrame(EMBEDDING, IMAGES).to_csv(path),
    "no header.csv": without_header,
    "numbered.csv": lambda path: pd.DataFrame(EMBEDDING).assign(label=CODES).to_csv(path),
    "arrays.hdf5": in_hdf5,
    "structs.parquet": with_structs,
}


@pytest.mark.parametrize("name", FACES)
def test_embeddings_as_other_programs_write_them(tmp_path, name):
    FACES[name](tmp_path / name)
    faces = opened(tmp_path / name)
    assert "tags" not in faces.coords
    np.testing.assert_array_equal(faces.embedding.values[:, :6], EMBEDDING)
    who = faces.identity.values
    np.testing.assert_array_equal(who[:, None] == who, PEOPLE[:, None] == PEOPLE)


def frame_of_pairs():
    sides = {"img1": IMAGES[FIRST], "img2": IMAGES[SECOND]}
    return pd.DataFrame(sides | {"same": GENUINE.astype(int), "score": SCORE})


PAIRS = {
    "records.json": lambda path: frame_of_pairs().to_json(
        path, orient="records", double_precision=15
    ),
    "words.csv": lambda path: pd.DataFrame(
        {"type": np.where(GENUINE, "mated", "non-mated"), "cosine value": SCORE}
    ).to_csv(path, index=False),
    "issame.npz": lambda path: np.savez(path, dist=2 - 2 * SCORE, actual_issame=GENUINE),
    "scores.mat": lambda path: savemat(path, {"sims": SCORE, "genuine": GENUINE.astype(float)}),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_as_other_programs_write_them(tmp_path, name):
    PAIRS[name](tmp_path / name)
    pairs = named(fk.open_data(tmp_path / name))
    np.testing.assert_array_equal(pairs.genuine.values, GENUINE)
    np.testing.assert_array_equal(np.argsort(pairs.score.values), np.argsort(SCORE))
    if "probe" in pairs.coords:
        assert len({*pairs.probe.values, *pairs.reference.values}) == 48


@pytest.mark.parametrize(
    "labels", [CODES, [f"/data/{who}/{image}" for who, image in zip(PEOPLE, IMAGES)]]
)
def test_an_array_has_labels_in_another_file(tmp_path, labels):
    np.save(tmp_path / "features.npy", EMBEDDING)
    ending = ".npy" if labels is CODES else ".txt"
    path = tmp_path / f"labels{ending}"
    np.save(path, labels) if labels is CODES else path.write_text("\n".join(labels))
    with pytest.raises(fk.InputError, match="no column says whom an image shows"):
        fk.open_data(tmp_path / "features.npy")
    who = opened(tmp_path / "features.npy", labels=path).identity.values
    np.testing.assert_array_equal(who[:, None] == who, PEOPLE[:, None] == PEOPLE)


def test_a_folder_of_arrays_is_refused_with_the_line_that_opens_it(tmp_path):
    for who, name, vector in zip(PEOPLE, IMAGES, EMBEDDING):
        (tmp_path / "faces" / who).mkdir(parents=True, exist_ok=True)
        np.save(tmp_path / "faces" / who / name, vector)
    with pytest.raises(fk.InputError, match="a folder is no file") as refused:
        fk.open_data(tmp_path / "faces")
    line = re.search("paths = .*", str(refused.value))[0].replace("; ", "\nfaces = ")
    names = {"fk": fk, "np": np, "pd": pd, "Path": Path, "folder": tmp_path / "faces"}
    exec(line, names)
    np.testing.assert_array_equal(names["faces"].identity.values, PEOPLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("genuine.txt", "impostor.txt"),
        ("arcface_genuine_scores.npy", "arcface_impostor_scores.npy"),
        ("nonmated.csv", "mated.csv"),
    ],
)
def test_two_files_are_genuine_and_impostor_scores(tmp_path, names):
    """In either order, and on the command line."""
    folder = tmp_path / "scores"
    folder.mkdir()
    for name in names:
        scores = SCORE[
            GENUINE if name in (names[0], "mated.csv") and "non" not in name else ~GENUINE
        ]
        if name.endswith(".npy"):
            np.save(folder / name, scores)
        else:
            header = "score\n" if name.endswith(".csv") else ""
            (folder / name).write_text(header + "\n".join(map(repr, scores.tolist())))
    files = [folder / name for name in names]
    for pairs in fk.open_data(files), fk.open_data(files[::-1]):
        pairs = named(pairs)
        assert pairs.genuine.values.tolist() == sorted(GENUINE.tolist(), reverse=True)
        np.testing.assert_array_equal(pairs.score.values[: GENUINE.sum()], SCORE[GENUINE])
    assert main(["report", *map(str, files), "--far", "0.1", "-o", str(tmp_path / "r")]) == 0


def test_a_header_of_two_lines_is_refused_with_what_to_do(tmp_path):
    columns = [
        ("probe", "id"),
        ("probe", "sex"),
        ("ref", "id"),
        ("ref", "sex"),
        ("result", "score"),
    ]
    table = pd.DataFrame([["a", "f", "a", "f", 0.9], ["a", "f", "b", "m", 0.1]])
    table.set_axis(pd.MultiIndex.from_tuples(columns), axis=1).to_csv(tmp_path / "t.csv")
    with refused("probe", "ref"):
        fk.open_data(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("ending", "advice"),
    [(".zip", "unpack it"), (".xlsx", "save the sheet as CSV"), (".rds", "write.csv")],
)
def test_other_files_are_refused_with_what_to_do(tmp_path, ending, advice):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"PK\x03\x04 and more")
    with refused(ending, advice):
        fk.open_data(path)


def test_a_pickle_is_refused(tmp_path):
    path = tmp_path / "encodings.pickle"
    path.write_bytes(pickle.dumps({"encodings": EMBEDDING, "names": PEOPLE}))
    with refused(".pickle", "np.savez"):
        fk.open_data(path)


def test_groups_of_several_models_in_hdf5_are_named(tmp_path):
    with h5py.File(tmp_path / "two.h5", "w") as file:
        for name in ("arcface", "cosface"):
            file.create_group(name)["features"] = EMBEDDING
            file[name]["people"] = PEOPLE.tolist()
    with refused("arcface", "cosface"):
        fk.open_data(tmp_path / "two.h5")
    with h5py.File(tmp_path / "two.h5") as file:
        faces = fk.faces(file["arcface/features"][:], file["arcface/people"].asstr()[:])
    np.testing.assert_array_equal(faces.identity.values, PEOPLE)


def list_of(score=SCORE, **columns):
    return pd.DataFrame({"img1": IMAGES[FIRST], "img2": IMAGES[SECOND], "score": score} | columns)


def test_people_whose_names_differ_in_spelling_only_are_noticed():
    for spelled in (np.char.upper(PEOPLE), np.char.replace(PEOPLE, "_", " ")):
        mixed = np.where(np.arange(len(SECOND)) % 2 == 0, PEOPLE[SECOND], spelled[SECOND])
        with noticed("32 labels", "identity"):
            fk.open_data(list_of(id1=PEOPLE[FIRST], id2=mixed).drop(columns=["img1", "img2"]))
    numbers = np.repeat(["1-12", "11-2", "1", "-1a", "m.03f4r_b", "m.03f4rb", "A", "Anna"], 6)
    assert fk.faces(EMBEDDING, numbers).sizes["image"] == 48


@pytest.mark.parametrize("form", ["embeddings", "pairs", "matrix"])
@pytest.mark.parametrize("second", ["female", "FEMALE "])
def test_groups_whose_names_differ_in_spelling_only_are_noticed(form, second):
    labels = np.resize(["Female"] * 3 + ["Male"] * 3 + [second] * 3, 48)
    with noticed("gender", "Female"):
        if form == "embeddings":
            fk.faces(EMBEDDING, PEOPLE, gender=labels)
        elif form == "pairs":
            fk.pairs(SCORE, GENUINE, gender=(labels[FIRST], labels[SECOND]))
        else:
            gender = {"gender": (labels, labels[:9])}
            fk.score_matrix(UNIT @ UNIT[:9].T, PEOPLE, PEOPLE[:9], attributes=gender)
    ages = np.resize(["3-9"] * 3 + ["39"] * 3 + ["A", "A x B", "Male"], 48)
    assert "age" in fk.faces(EMBEDDING, PEOPLE, age=ages).coords


def test_identities_that_a_spreadsheet_abridged_are_refused(tmp_path):
    who = np.array([f"{1.2e11 + 1e9 * k:.2E}" for k in range(16)]).repeat(3)
    with refused("1.20E+11", "2,256"):
        fk.pairs(np.tile(SCORE, 2), None, probe_identity=who[np.r_[FIRST, SECOND]],
                 reference_identity=who[np.r_[SECOND, FIRST]])  # fmt: skip
    table = pd.DataFrame({"ID1": who[FIRST], "ID2": who[SECOND], "score": SCORE})
    for decimal, mark in (".", ","), (",", ";"):
        text = table.replace(regex={"ID.": {r"\.": decimal}}).round(3)
        text.to_csv(tmp_path / "t.csv", index=False, sep=mark, decimal=decimal)
        with refused("probe_identity", "1.20E+11"):
            fk.open_data(tmp_path / "t.csv")
    pd.DataFrame(EMBEDDING).add_prefix("f").assign(identity=who).to_csv(tmp_path / "f.csv")
    with refused("identity", "1.20E+11", 48):
        fk.open_data(tmp_path / "f.csv")


def test_scores_with_two_values_are_noticed_as_decisions():
    accepted = (SCORE > 0.5).astype(float)
    pairs = fk.open_data(list_of(accepted, id1=PEOPLE[FIRST], id2=PEOPLE[SECOND]))
    matrix = fk.score_matrix(UNIT @ UNIT[:9].T > 0.5, PEOPLE, PEOPLE[:9])
    for data in pairs, matrix:
        with noticed("the same score"):
            fk.evaluate(data, far=[0.01], resampling=None)


def test_parts_that_nobody_named_are_asked_about():
    frame = pd.DataFrame(EMBEDDING).add_prefix("f").assign(identity=PEOPLE)
    frame["split"] = np.resize(["train"] * 24 + ["test"] * 24, 48)
    with refused("split", "parts"):
        fk.open_data(frame)
    assert "split" in fk.open_data(frame, columns={"split": "split"}).coords
    fk.open_data(frame[:24])  # one part only


@pytest.mark.parametrize("point", [".", ","])
def test_a_point_that_may_stand_behind_thousands_is_asked_about(tmp_path, point):
    whole = (5000 * SCORE).astype(int)
    texts = {
        "thousands": [f"{score:,}".replace(",", point) for score in whole],
        "decimals": [f"{score / 1000:.3f}".replace(".", point) for score in 399_000 + whole * 50],
        "fewer": [f"{score / 1000:g}".replace(".", point) for score in 399_000 + whole * 50],
    }
    table = list_of(id1=PEOPLE[FIRST], id2=PEOPLE[SECOND])
    for name, scores in texts.items():
        path = tmp_path / f"{name}.csv"
        table.assign(score=scores).to_csv(path, index=False, sep=";")
        if name == "thousands":
            with refused("line 2", "score"):
                fk.open_data(path)
        else:
            expected = [float(score.replace(",", ".")) for score in scores]
            assert named(fk.open_data(path)).score.values.tolist() == expected


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_matrix_of_thousands_is_asked_about(tmp_path, decimal):
    whole = (900 + 500 * UNIT @ UNIT.T).round().astype(int)
    texts = [[f"{score:,}".replace(",", decimal) for score in row] for row in whole]
    pd.DataFrame(texts, PEOPLE, PEOPLE).to_csv(tmp_path / "m.csv", sep=";")
    with refused("line 2", "Person_00"):
        fk.open_data(tmp_path / "m.csv", kind="matrix")


def test_points_and_commas_in_one_column_are_refused(tmp_path):
    table = list_of(id1=PEOPLE[FIRST], id2=PEOPLE[SECOND])
    texts = [f"{score:.3f}".replace(".", ",") for score in SCORE]
    table = table.assign(score=["1.234", *texts[1:]])
    table.to_csv(tmp_path / "p.csv", sep=";", index=False)
    with refused("line 3", "score", texts[1]):
        fk.open_data(tmp_path / "p.csv")
    table.assign(score=["FTA", *texts[1:]]).to_csv(tmp_path / "p.csv", sep=";", index=False)
    with noticed("1 genuine and 0 impostor"):
        assert np.isnan(named(fk.open_data(tmp_path / "p.csv")).score).sum() == 1


def test_whole_scores_that_would_become_equal_are_refused():
    """Beyond 2**53 float64 does not tell neighbours apart."""
    far_apart = 2**60 + (SCORE * 2**40).astype(np.int64)
    assert named(opened(list_of(far_apart))).score.shape == SCORE.shape
    with refused("row 1", "score", "1152921504606847169"):
        opened(list_of(2**60 + (SCORE * 200).astype(np.int64)))


def test_the_command_line_can_say_that_no_score_marks_a_failure(tmp_path, capsys):
    values = np.where(np.eye(48) + RNG.random((48, 48)) < 0.05, -1, 5 + UNIT @ UNIT.T)
    pd.DataFrame(values, IMAGES, IMAGES).to_csv(tmp_path / "m.csv")
    command = ["look", str(tmp_path / "m.csv"), "--identity", "{name}_{number}.jpg"]
    assert main(command) == 2
    assert "--missing none" in capsys.readouterr().err
    assert main([*command, "--missing", "none"]) == 0
    assert "failed" not in capsys.readouterr().out


def test_arrays_of_any_name_are_embeddings_once_the_identity_is_named(tmp_path):
    np.savez(tmp_path / "f.npz", embedding=EMBEDDING, wer=CODES, sex=np.repeat(["f", "m"], 24))
    with refused("48 rows", "embedding"):
        fk.open_data(tmp_path / "f.npz")
    faces = fk.open_data(tmp_path / "f.npz", columns={"identity": "wer"})
    assert faces.identity.values.tolist() == CODES.astype(str).tolist()


def test_arrays_beside_pairs_are_left_aside_with_a_notice(tmp_path):
    arrays = {"dist": 1 - SCORE, "actual_issame": GENUINE, "tpr": np.linspace(0, 1, 40)}
    np.savez(tmp_path / "p.npz", **arrays)
    with noticed("tpr") as notices:
        pairs = fk.open_data(tmp_path / "p.npz")
    assert len(notices) == 1
    np.testing.assert_allclose(named(pairs).score.values, SCORE - 1)


def test_names_in_utf_8_are_read_from_hdf5_and_evaluations_sent_on(tmp_path):
    people = np.char.encode(np.char.add(PEOPLE, "ü"), "utf-8")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["embedding"], file["identity"] = EMBEDDING, people
    assert fk.open_data(tmp_path / "f.h5").identity.values[0] == "Person_00ü"
    xr.Dataset({"frr": 1.0}).to_netcdf(tmp_path / "e.nc")
    with pytest.raises(fk.InputError, match="fk.open_evaluation"):
        fk.open_data(tmp_path / "e.nc")
    (tmp_path / "report.json").write_text('{"schema": "frkit-report", "values": [{"far": 0.1}]}')
    with refused("report.json", "frkit check"):
        fk.open_data(tmp_path / "report.json")


def test_copies_of_embeddings_are_counted_in_a_notice():
    wide = np.hstack([EMBEDDING, EMBEDDING + 1])
    assert fk.faces(wide, PEOPLE).sizes["image"] == 48  # without a notice
    wide[[1, 7, 20]] = wide[0]
    with noticed("4 images"):
        fk.faces(wide, PEOPLE)
