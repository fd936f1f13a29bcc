"""Files as other programs write them: the same pairs, or the same images, in each form."""

import json
import pickle

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
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


def in_one_group(path):
    with h5py.File(path, "w") as file:
        group = file.create_group("arcface/lfw")
        group["features"] = EMBEDDING
        group["subject_ids"] = CODES
        group["filenames"] = np.array(IMAGES.tolist(), h5py.string_dtype())


def paths_beside(path):
    np.save(path, EMBEDDING)
    lines = [f"/data/{who}/{image}" for who, image in zip(PEOPLE, IMAGES)]
    path.with_suffix(".txt").write_text("\n".join(lines))


def deepface(path):
    area = {"x": 0, "y": 0, "w": 9, "h": 9}
    rows = [
        {"img_path": f"db/{who}/{image}", "results": [{"embedding": row, "facial_area": area}]}
        for who, image, row in zip(PEOPLE, IMAGES, EMBEDDING.tolist())
    ]
    path.write_text(json.dumps(rows))


def with_structs(path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    columns = {"identity_id": CODES, "facial_area": [{"x": 1, "y": 2}] * 48, "emb": [*EMBEDDING]}
    pictures = [{"bytes": b"\x89PNG\xff", "path": name} for name in IMAGES]
    pd.DataFrame(columns).assign(image=pictures, tags=[["a"]] * 48).to_parquet(path)


def frame_by_columns(path):
    columns = {"img": IMAGES, "person": PEOPLE, "embedding": EMBEDDING.tolist()}
    pd.DataFrame(columns).to_json(path, double_precision=15)


FACES = {
    "group.hdf5": in_one_group,
    "paths.npy": paths_beside,
    "represent.json": deepface,
    "structs.parquet": with_structs,
    "frame.json": frame_by_columns,
}


@pytest.mark.parametrize("name", FACES)
def test_embeddings_as_other_programs_write_them(tmp_path, name):
    FACES[name](tmp_path / name)
    faces = fk.open_data(tmp_path / name)
    assert "tags" not in faces.coords
    np.testing.assert_array_equal(faces.embedding.values, EMBEDDING)
    who = faces.identity.values
    np.testing.assert_array_equal(who[:, None] == who, PEOPLE[:, None] == PEOPLE)


def nested_lines(path):
    lines = [
        {
            "probe": {"image": IMAGES[i], "subject": PEOPLE[i]},
            "reference": {"image": IMAGES[j], "subject": PEOPLE[j]},
            "similarity": score,
        }
        for i, j, score in zip(FIRST, SECOND, SCORE.tolist())
    ]
    path.write_text("\n".join(map(json.dumps, lines)))


def percent(path):
    cells = [f"{50 + 50 * score!r}%" for score in SCORE.tolist()]
    verdict = np.where(GENUINE, "same person", "different person")
    columns = {"img_a": IMAGES[FIRST], "img_b": IMAGES[SECOND], "score (%)": cells}
    pd.DataFrame(columns | {"ground truth": verdict}).to_csv(path, index=False)


def five_cells(path):
    sides = [PEOPLE[FIRST], IMAGES[FIRST], PEOPLE[SECOND], IMAGES[SECOND]]
    lines = ["\t".join(map(str, cells)) for cells in zip(*sides, SCORE.tolist())]
    path.write_text("\n".join(lines))


PAIRS = {
    "issame.npz": lambda path: np.savez(path, dist=2 - 2 * SCORE, actual_issame=GENUINE),
    "scores.mat": lambda path: savemat(path, {"sims": SCORE, "genuine": GENUINE.astype(float)}),
    "nested.jsonl": nested_lines,
    "percent.csv": percent,
    "five.tsv": five_cells,
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_as_other_programs_write_them(tmp_path, name):
    PAIRS[name](tmp_path / name)
    pairs = fk.open_data(tmp_path / name)
    np.testing.assert_array_equal(pairs.genuine.values, GENUINE)
    np.testing.assert_array_equal(np.argsort(pairs.score.values), np.argsort(SCORE))
    if "probe" in pairs.coords:
        assert len({*pairs.probe.values, *pairs.reference.values}) == 48


@pytest.mark.parametrize(
    ("ending", "advice"),
    [(".zip", "unpack it"), (".xlsx", "save the sheet as CSV"), (".rds", "write.csv")],
)
def test_other_files_are_refused_with_what_to_do(tmp_path, ending, advice):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(fk.InputError, match=f"does not read {ending} files: .*{advice}"):
        fk.open_data(path)


def test_a_pickle_is_refused(tmp_path):
    path = tmp_path / "encodings.pickle"
    path.write_bytes(pickle.dumps({"encodings": EMBEDDING, "names": PEOPLE}))
    with pytest.raises(fk.InputError, match="may run any code, so frkit refuses"):
        fk.open_data(path)


def test_groups_of_several_models_in_hdf5_are_named(tmp_path):
    with h5py.File(tmp_path / "two.h5", "w") as file:
        for name in ("arcface", "cosface"):
            file.create_group(name)["features"] = EMBEDDING
    with pytest.raises(fk.InputError, match="groups 'arcface', 'cosface'"):
        fk.open_data(tmp_path / "two.h5")


def list_of(score=SCORE, **columns):
    return pd.DataFrame({"img1": IMAGES[FIRST], "img2": IMAGES[SECOND], "score": score} | columns)


def test_a_truth_about_something_else_than_people_is_noticed():
    sex = np.where(np.arange(48) // 3 % 2 == 0, "f", "m")
    with pytest.warns(fk.DataWarning, match="genuine pairs show two people"):
        fk.open_data(list_of(same=sex[FIRST] == sex[SECOND]))


def test_people_whose_names_differ_in_capital_letters_are_noticed():
    upper = np.where(np.arange(len(SECOND)) % 2 == 0, PEOPLE[SECOND], np.char.upper(PEOPLE[SECOND]))
    with pytest.warns(fk.DataWarning, match="32 identities differ from another in capital letters"):
        fk.open_data(list_of(id1=PEOPLE[FIRST], id2=upper))


def test_whole_scores_that_would_become_equal_are_refused():
    """Beyond 2**53 float64 does not tell neighbours apart."""
    far_apart = 2**60 + (SCORE * 2**40).astype(np.int64)
    assert fk.open_data(list_of(far_apart)).score.shape == SCORE.shape
    with pytest.raises(fk.InputError, match="different scores become equal"):
        fk.open_data(list_of(2**60 + (SCORE * 200).astype(np.int64)))


def test_the_command_line_can_say_that_no_score_marks_a_failure(tmp_path, capsys):
    values = np.where(np.eye(48) + RNG.random((48, 48)) < 0.05, -1, 5 + UNIT @ UNIT.T)
    pd.DataFrame(values, IMAGES, IMAGES).to_csv(tmp_path / "m.csv")
    assert main(["look", str(tmp_path / "m.csv")]) == 0
    shown = capsys.readouterr().out
    assert "-1 is a failed comparison" in shown and "give --missing none" in shown
    assert main(["look", str(tmp_path / "m.csv"), "--missing", "none"]) == 0
    assert "failed" not in capsys.readouterr().out


def test_arrays_of_any_name_are_embeddings_once_the_identity_is_named(tmp_path):
    np.savez(tmp_path / "f.npz", embedding=EMBEDDING, wer=CODES, sex=np.repeat(["f", "m"], 24))
    with pytest.raises(fk.InputError, match="no column says whom"):
        fk.open_data(tmp_path / "f.npz")
    faces = fk.open_data(tmp_path / "f.npz", columns={"identity": "wer"})
    assert faces.identity.values.tolist() == CODES.astype(str).tolist()


def test_an_embedding_with_a_column_for_each_image_is_refused(tmp_path):
    savemat(tmp_path / "f.mat", {"feat": EMBEDDING.T, "id": CODES})
    with pytest.raises(fk.InputError, match="'feat' has 6 rows and 48 columns.*transposed"):
        fk.open_data(tmp_path / "f.mat")


def test_arrays_beside_pairs_are_left_aside_with_a_notice(tmp_path):
    arrays = {"dist": 1 - SCORE, "actual_issame": GENUINE, "tpr": np.linspace(0, 1, 40)}
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.warns(fk.DataWarning, match="not read: 'tpr' .they are shorter"):
        pairs = fk.open_data(tmp_path / "p.npz")
    np.testing.assert_allclose(pairs.score.values, SCORE - 1)


def test_a_symmetric_embedding_is_taken_if_its_dimensions_are_named():
    array = UNIT @ UNIT.T
    with pytest.raises(fk.InputError, match=r"xr.DataArray\(values, dims="):
        fk.faces(array, PEOPLE)
    faces = fk.faces(xr.DataArray(array, dims=["image", "feature"]), PEOPLE)
    np.testing.assert_allclose(faces.embedding.values, array, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"format": "columns"}])
def test_a_text_is_no_answer_to_whether_scores_are_distances(tmp_path, options):
    table = pd.DataFrame({"score": SCORE, "genuine": GENUINE})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(fk.InputError, match="distance must be True or False, got 'no'"):
        fk.open_data(tmp_path / "t.csv", distance="no", **options)
    with pytest.raises(fk.InputError, match="score must name columns, got 3"):
        fk.open_data(tmp_path / "t.csv", score=3)
    assert fk.open_data(tmp_path / "t.csv", score="score").sizes["pair"] == len(SCORE)


def test_names_in_utf_8_are_read_from_hdf5_and_evaluations_sent_on(tmp_path):
    people = np.char.encode(np.char.add(PEOPLE, "ü"), "utf-8")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["embedding"], file["identity"] = EMBEDDING, people
    assert fk.open_data(tmp_path / "f.h5").identity.values[0] == "Person_00ü"
    xr.Dataset({"frr": 1.0}).to_netcdf(tmp_path / "e.nc")
    with pytest.raises(fk.InputError, match="fk.open_evaluation"):
        fk.open_data(tmp_path / "e.nc")


def test_copies_of_embeddings_are_counted_in_a_notice():
    wide = np.hstack([EMBEDDING, EMBEDDING + 1])
    assert fk.faces(wide, PEOPLE).sizes["image"] == 48  # without a notice
    wide[[1, 7, 20]] = wide[0]
    with pytest.warns(fk.DataWarning, match="3 images have exactly the embedding of another"):
        fk.faces(wide, PEOPLE)
