"""Every command and every Python line of the page Files runs, on files like those it shows."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from paths import ROOT
from report_faces import only_parts

import frkit as fk
from frkit.__main__ import main

PAGE = (ROOT / "binder/docs/files.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


COMMANDS = [shlex.split(line, comments=True) for line in "".join(blocks("sh")).splitlines()]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The names that the page uses, and a folder with its files, of 30 of the bundled people."""
    folder = tmp_path_factory.mktemp("files")
    faces = fk.demo_faces().sel(model="Ash", drop=True)
    faces = faces.isel(image=np.isin(faces.identity, np.unique(faces.identity)[:30]))
    vectors = faces.embedding.values
    labels = pd.DataFrame({"subject": faces.identity.astype(str), "gender": faces.gender.values})
    number = labels.groupby("subject").cumcount()
    labels["image"] = [f"{who}_{n:02d}.jpg" for who, n in zip(labels.subject, number)]
    labels["ethnicity"] = faces.race.values
    features = pd.DataFrame(vectors).add_prefix("f")
    scores = vectors @ vectors.T

    np.save(folder / "arc.npy", vectors)
    labels.to_csv(folder / "meta.csv", index=False)
    labels.drop_duplicates("subject").drop(columns="image").to_csv(
        folder / "people.csv", index=False
    )
    labels.join(features).to_csv(folder / "wide.csv", index=False)
    labels[["image"]].join(features).to_csv(folder / "images.csv", index=False)
    pd.DataFrame(scores, labels.image, labels.image).to_csv(folder / "matrix.csv")
    first, second = np.triu_indices(len(scores), 1)
    prints = pd.DataFrame({"score": scores[first, second]})
    for side, rows in (("1", first), ("2", second)):
        prints[f"subject_{side}"] = labels.subject.to_numpy()[rows]
        prints[f"finger_{side}"] = np.array(["left", "right"])[rows % 2]
    prints.to_csv(folder / "prints.csv", index=False)
    np.save(folder / "matrix.npy", scores)
    np.save(folder / "square.npy", scores)
    np.save(folder / "scores.npy", scores)
    for name in ("probes.txt", "gallery.txt"):
        (folder / name).write_text("\n".join(labels.subject))
    distances = np.sqrt(np.maximum(2 - 2 * scores, 0))
    np.savetxt(folder / "square.txt", distances)
    encodings = dict(zip(labels.image, vectors.tolist()))
    (folder / "encodings.json").write_text(json.dumps(encodings))
    for who, image, vector in zip(labels.subject, labels.image, vectors):
        (folder / "embeddings" / who).mkdir(parents=True, exist_ok=True)
        np.save(folder / "embeddings" / who / image[:-4], vector)
    np.savez(folder / "images.npz", **dict(zip(labels.image, vectors)))
    of_people = labels.groupby("subject").indices.items()
    np.savez(folder / "people.npz", **{who: vectors[rows] for who, rows in of_people})
    who = labels.subject.to_numpy(str)
    sets = {"gallery": vectors[::2], "gallery_id": who[::2]}
    sets |= {"probe": vectors[1::2], "probe_id": who[1::2]}
    np.savez(folder / "sets.npz", **sets)
    (folder / "ids.txt").write_text("\n".join(labels.subject))
    faces.to_netcdf(folder / "faces.nc")
    columns = {
        "identity": labels.subject.to_numpy(str),
        "gender": labels.gender.to_numpy(str),
        "image": labels.image.to_numpy(str),
    }
    for name, order in {"arcface": slice(None), "cosface": slice(None, None, -1)}.items():
        rows = {column: values[order] for column, values in columns.items()}
        np.savez(folder / f"{name}.npz", embedding=vectors[order], **rows)

    probe, reference = np.triu_indices(len(labels), 1)
    sides = {"Probe File": (labels.image, probe), "Gallery File": (labels.image, reference)}
    sides |= {"PersonID_1": (labels.subject, probe), "PersonID_2": (labels.subject, reference)}
    pairs = pd.DataFrame({name: column.values[rows] for name, (column, rows) in sides.items()})
    is_genuine = pairs.PersonID_1 == pairs.PersonID_2
    pairs["L2 dist"] = np.sqrt(2 - 2 * scores[probe, reference]).round(3)
    pairs["mated?"] = np.where(is_genuine, "yes", "no")
    pairs.to_csv(folder / "pairs.csv", index=False)
    for name, kind in {"genuine.txt": is_genuine, "impostor.txt": ~is_genuine}.items():
        np.savetxt(folder / name, scores[probe, reference][kind])
    places = {"embeddings": vectors, "idx1": probe, "idx2": reference, "label": is_genuine}
    np.savez(folder / "places.npz", **places)
    in_turn = vectors[np.column_stack([probe, reference]).ravel()]
    np.savez(folder / "issame.npz", embeddings=in_turn, issame_list=is_genuine)
    np.savez(folder / "models.npz", arcface_scores=scores, cosface_scores=scores**3, labels=who)
    np.save(folder / "similarity.npy", scores[probe, reference])
    np.save(folder / "truth.npy", is_genuine)
    rows = [pairs.columns, ["---"] * len(pairs.columns), *pairs.astype(str).to_numpy()]
    (folder / "pairs.md").write_text("\n".join(f"| {' | '.join(row)} |" for row in rows))
    marked = pairs.drop(columns="L2 dist").assign(score=scores[probe, reference].round(3))
    marked.loc[::20, "score"] = -1000
    marked.to_csv(folder / "marks.csv", index=False)
    matrix = pd.DataFrame(scores, labels.subject, labels.subject)
    people = {"names": labels.subject.to_numpy(str), "gender": labels.gender.to_numpy(str)}
    half = pd.DataFrame(np.triu(scores, 1), labels.image, labels.image)
    arrays = {"vectors": vectors, "distances": distances, "half": half}
    return people | arrays | {"folder": folder, "table": pairs, "matrix": matrix}


@pytest.mark.slow
def test_the_python_lines_run(names, monkeypatch):
    monkeypatch.chdir(names["folder"])
    for block in blocks("python"):
        exec(block, {"fk": fk, "json": json, "np": np, "pd": pd, "xr": xr, "Path": Path} | names)


@pytest.mark.slow
def test_the_files_are_seen_without_an_option(names, monkeypatch, capsys):
    monkeypatch.chdir(names["folder"])
    for name in ("pairs.csv", "wide.csv"):
        assert main(["look", name]) == 0
    assert main(["look", "marks.csv"]) == 2
    assert "frkit look marks.csv --missing -1000" in capsys.readouterr().err
    assert main(["look", "marks.csv", "--missing", "-1000"]) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("brief_reports")
@pytest.mark.parametrize("command", COMMANDS, ids=shlex.join)
def test_the_commands_run(names, monkeypatch, tmp_path, command):
    monkeypatch.chdir(names["folder"])
    _, verb, *arguments = command
    quick = ["--quick", "--far", "0.01", "-o", str(tmp_path / "out")] if verb == "report" else []
    with only_parts():
        assert main([verb, *arguments, *quick]) == 0


@pytest.mark.slow
def test_tables_with_peculiarities_open(names):
    """Comments above the header, DeepFace's columns."""
    folder, table = names["folder"], names["table"].rename(columns={"L2 dist": "distance"})
    (folder / "comments.csv").write_text("# run 7\n# model arc\n" + table.to_csv(index=False))
    paths = {"Probe File": "img1_path", "Gallery File": "img2_path", "mated?": "same_person"}
    deepface = table.rename(columns=paths).drop(columns=["PersonID_1", "PersonID_2"])
    deepface.assign(threshold=0.68, model="ArcFace").to_csv(folder / "deepface.csv", index=False)
    sizes = [
        fk.open_data(folder / name)["pairs"].sizes["pair"]
        for name in ("comments.csv", "deepface.csv")
    ]
    assert sizes == [len(table)] * 2
