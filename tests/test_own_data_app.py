"""The app for own data: reading, mapping, evaluating, exporting; what is wrong becomes words."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import frkit as fk
from frkit.explore.app import NONE, OwnData

NASTY = "<script>alert(1)</script> $\\frac"


@pytest.fixture
def files(tmp_path):
    """The same images as two models see them."""
    groups = {"a": {"kappa": 20}, NASTY: {"kappa": 9}}
    faces = fk.vmf.mixture(24, 8, seed=0, groups=groups).sample(5, seed=1)
    labels = {"identity": faces.identity.values, "gender": faces.group.values}
    paths = [tmp_path / "faces.npz", tmp_path / "other.npz"]
    for shift, path in enumerate(paths):
        np.savez(path, embedding=faces.embedding.values + 0.1 * shift, **labels)
    return paths


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    who = rng.integers(0, 20, (2, 800)).astype(str)
    who[1, :400] = who[0, :400]
    frame = pd.DataFrame({"id1": who[0], "id2": who[1]})
    for name, gap in (("good", 3), ("poor", 1)):
        frame[f"cos_{name}"] = rng.normal(size=800) + gap * (who[0] == who[1])
    frame["score"] = frame.cos_good
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    return path


def upload(app, *contents):
    files = []
    for name, content in contents:
        facts = {"type": "", "size": len(content), "last_modified": datetime.now(UTC)}
        files.append({"name": name, "content": memoryview(content), **facts})
    app.upload.value = tuple(files)


@pytest.mark.slow
def test_a_file_is_evaluated_and_exported(files, tmp_path):
    app = OwnData(files[0])
    assert "120 images" in app.status.value and app.by.value == "gender"
    app.far.value, said = "0.05, 0.1", []
    app.work.words.observe(lambda change: said.append(change.new), names="value")
    app.work.start()
    assert any("s to go" in words for words in said) and "done in" in said[-1]
    scores = fk.score_tensor(fk.open_faces(files[0]))
    direct = fk.evaluate(scores, far=[0.05, 0.1], by="gender")["empirical"]
    shown = app.report.evaluation["empirical"]
    np.testing.assert_array_equal(shown.frr_group, direct.frr_group)
    assert "<script" not in app.result.value and "&lt;script&gt;" in app.result.value
    assert 'download="report.html"' in app.link.value
    app.folder.value = str(tmp_path / "out")
    app.save()
    assert (tmp_path / "out/report.html").exists() and "written" in app.status.value
    assert "'../faces.npz'" in (tmp_path / "out/report.ipynb").read_text()


@pytest.mark.slow
def test_several_files_are_models(files):
    app = OwnData("; ".join(map(str, files)))
    assert app.data.model.values.tolist() == ["faces", "other"] == list(app.models.value)
    app.far.value, app.models.value = "0.1", ("other",)
    app.work.start()
    assert "done in" in app.work.words.value
    assert "model" not in app.report.evaluation["empirical"].dims
    assert app.report.arguments["data"] is None, "its notebook cannot choose the models"


def test_columns_are_guessed_and_can_be_mapped_anew(table):
    app = OwnData(table)
    assert app.scores.value == ("score",) and app.columns["probe_identity"].value == "id1"
    assert app.mapping.layout.display == "" and "<table" in app.preview.value
    app.scores.value = ("cos_good", "cos_poor")
    assert app.data.model.values.tolist() == ["cos_good", "cos_poor"] == list(app.models.value)
    app.columns["genuine"].value = "id1"
    assert 'role="alert"' in app.status.value and app.work.button.disabled
    app.columns["genuine"].value = NONE
    assert not app.work.button.disabled


def test_uploads_are_read_and_stay_in_their_folder(files):
    app = OwnData(files[0])
    upload(app, ("notes.pkl", b"anything"))
    assert 'role="alert"' in app.status.value and app.work.button.disabled
    upload(app, ("../../etc/<b>.npz", files[0].read_bytes()), ("c.npz", files[1].read_bytes()))
    assert not app.work.button.disabled
    assert app.data.sizes == {"model": 2, "image": 120, "feature": 8}
    assert app.paths[0].name == "<b>.npz" and app.paths[0].parent.name.startswith("tmp")


def test_what_is_wrong_becomes_words(files, tmp_path):
    app = OwnData(tmp_path / "nowhere.npz")
    assert "there is no such file" in app.status.value and app.work.button.disabled
    app.sample_button.click()
    assert "2,809 images" in app.status.value and not app.work.button.disabled
    app = OwnData(files[0])
    for level, words in (("one percent", "must be numbers"), ("7", "far must lie in (0, 1)")):
        app.far.value = level
        app.work.start()
        assert words in app.work.words.value and "Traceback" not in app.work.words.value
