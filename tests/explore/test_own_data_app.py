"""The app for own data: reading, mapping, evaluating, exporting; what is wrong becomes words."""

import base64
import html
import io
import json
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_files import store_pairs, two_files
from refusals import noticed
from report_faces import only_parts
from scipy.io import savemat

import frkit as fk
from frkit.explore.app import NONE, OwnData

pytestmark = pytest.mark.usefixtures("brief_reports")


@pytest.fixture
def first_parts():
    """Reports of this test are short: it is about what the app hands over."""
    with only_parts():
        yield


@pytest.fixture
def files(tmp_path):
    """The same images as two models see them, one.npz and two.npz."""
    return two_files(tmp_path)


def upload(app, *contents):
    files = []
    for name, content in contents:
        facts = {"type": "", "size": len(content), "last_modified": datetime.now(UTC)}
        files.append({"name": name, "content": memoryview(content), **facts})
    app.upload.value = tuple(files)


@pytest.mark.slow
def test_a_file_is_evaluated_and_exported(files):
    app = OwnData(files[0])
    assert "150 images" in app.status.value and app.by.value == "gender"
    app.far.value, shown = "0.05, 0.1", []
    app.words.observe(lambda change: shown.append(change.new), names="value")
    app.bar.observe(lambda change: shares.append(change.new), names="value")
    shares = []
    app.evaluate()
    assert any("Error rates ..." in line for line in shown) and "done in" in shown[-1]
    assert shares == sorted(shares) and shares[-1] == 1
    scores = fk.score_tensor(fk.open_data(files[0]))
    direct = fk.evaluate(scores, far=[0.05, 0.1], by="gender")["empirical"]
    rates = app.report.evaluation["empirical"]
    np.testing.assert_array_equal(rates.frr_group, direct.frr_group)
    assert "Accuracy and fairness of one.npz" in app.result.value
    address = re.search('download="frkit-report.zip".*href="data:application/zip;base64,(.*?)"',
                        app.link.value)[1]  # fmt: skip
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(address)))
    names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {"frkit-report/report.html", "frkit-report/tables/frr.csv"} <= names
    numbers = json.loads(archive.read("frkit-report/report.json"))
    assert names == {f"frkit-report/{name}" for name in numbers["files"]}
    assert numbers["options"]["data"] == files[0]


@pytest.mark.slow
@pytest.mark.usefixtures("first_parts")
def test_a_mat_that_was_read_is_evaluated_without_reading_it_in_the_app(files, tmp_path):
    with np.load(files[0]) as arrays:
        savemat(tmp_path / "one.mat", {name: arrays[name] for name in arrays})
    app = OwnData(tmp_path / "one.mat")
    (tmp_path / "one.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))  # SciPy may crash on it
    app.far.value = "0.1"
    app.evaluate()
    assert "done in" in app.words.value
    assert app.report.evaluation["empirical"].sizes["group"] == 2


@pytest.mark.slow
@pytest.mark.usefixtures("first_parts")
def test_several_files_are_models(files):
    app = OwnData("; ".join(files))
    app.far.value = "0.1"
    app.evaluate()
    assert "done in" in app.words.value
    assert app.report.evaluation["empirical"].model.values.tolist() == ["one", "two"]
    assert app.report.arguments["data"] == dict(zip(["one", "two"], map(Path, files)))


def read(app, options):
    app.options.value = options
    app.read()


def test_columns_are_guessed_and_can_be_named(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))
    table = table.rename(columns={"arc face": "second", "cos face": "third"})
    table.to_csv(tmp_path / "p.csv", index=False)
    app = OwnData(tmp_path / "p.csv")
    columns = html.unescape(app.status.value)
    assert "score: 'score'" in columns and "probe_identity: 'id1'" in columns
    read(app, "--columns score=second score=third")
    assert app.data.model.values.tolist() == ["second", "third"]
    read(app, "--columns score=score genuine=id1")
    assert 'role="alert"' in app.status.value and app.evaluate_button.disabled
    read(app, "--no-such-option")
    assert "no-such-option" in app.status.value and app.evaluate_button.disabled
    read(app, "--columns score=score")
    assert not app.evaluate_button.disabled


@pytest.mark.slow
@pytest.mark.usefixtures("first_parts")
def test_a_file_that_is_not_recognised_is_evaluated_once_its_columns_are_named(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))[["id1", "id2", "arc face"]]
    table.set_axis(["u", "v", "w"], axis=1).to_csv(tmp_path / "odd.csv", index=False)
    app = OwnData(tmp_path / "odd.csv")
    assert "options: --kind matrix" in app.status.value and app.evaluate_button.disabled
    read(app, "--columns score=w probe_identity=u reference_identity=v")
    assert "3,000 pairs" in app.status.value and not app.evaluate_button.disabled
    app.far.value = "0.1"
    app.evaluate()
    genuine = (table.id1 == table.id2).to_numpy()
    impostor = np.sort(table["arc face"][~genuine])[::-1]
    threshold = impostor[int(0.1 * len(impostor))]
    frr = (table["arc face"][genuine] <= threshold).mean()
    assert app.report.evaluation["empirical"].frr.item() == pytest.approx(frr)


def test_a_question_shows_the_options_that_answer_it(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))[["id1", "id2", "arc face"]]
    odd = table.set_axis(["id1", "id2", "w"], axis=1)
    odd.assign(v=odd.w[::-1].to_numpy()).to_csv(tmp_path / "odd.csv", index=False)
    app = OwnData(tmp_path / "odd.csv")
    assert app.evaluate_button.disabled and "roles found: probe_identity" in app.status.value
    assert "--columns score=w score=v" in app.status.value
    read(app, "--columns score=w")
    assert not app.evaluate_button.disabled


def test_uploads_are_read_and_stay_in_their_folder(files):
    app = OwnData("; ".join(files))
    upload(app, ("notes.pkl", b"anything"))
    assert 'role="alert"' in app.status.value and app.evaluate_button.disabled
    assert app.by.options == (NONE,), "of the file before"
    first, second = (Path(file).read_bytes() for file in files)
    upload(app, ("../../etc/<b>.npz", first), ("c.npz", second))
    assert not app.evaluate_button.disabled
    assert app.data.sizes == {"model": 2, "image": 150, "feature": 8}
    first, _ = app.files.values()
    assert first.name == "<b>.npz" and first.parent.name.startswith("tmp")
    assert app.path.value == "<b>.npz; c.npz"
    shown = [app.status.value, app.path.value]
    upload(app, ("broken.npz", b"PK nothing"))
    assert "broken.npz" in app.status.value and 'role="alert"' in app.status.value
    assert "/tmp" not in "".join([*shown, app.status.value, app.words.value])


def test_what_is_wrong_becomes_words(files, tmp_path):
    app = OwnData(tmp_path / "nowhere.npz")
    assert "there is no such file" in app.status.value and app.evaluate_button.disabled
    app.path.value = ""
    app.read()
    assert "2,809 images" in app.status.value and not app.evaluate_button.disabled
    app = OwnData(files[0])
    app.path.value = files[1]
    app.evaluate()
    assert "press Read" in app.words.value
    app.path.value = files[0]
    for level, message in (("one percent", "is not a number"), ("7", "far must lie in (0, 1)")):
        app.far.value = level
        app.evaluate()
        assert message in app.words.value and "Traceback" not in app.words.value


def test_what_fails_in_an_evaluation_becomes_words(files, monkeypatch):
    app = OwnData(files[0])

    def fail(*_args, **_options):
        raise ZeroDivisionError("<zero>")

    monkeypatch.setattr("frkit.reporting.report.report", fail)
    app.evaluate()
    assert "ZeroDivisionError: &lt;zero&gt;" in app.words.value
    assert not app.evaluate_button.disabled


@pytest.mark.slow
@pytest.mark.usefixtures("first_parts")
def test_a_report_goes_when_the_question_changes(files):
    app = OwnData(files[0])
    app.far.value = "10%"
    app.evaluate()
    assert "done in" in app.words.value and "download" in app.link.value
    app.by.value = NONE
    assert app.words.value == "" and app.link.value == ""
    assert "The report appears here" in app.result.value


@pytest.mark.slow
@pytest.mark.usefixtures("first_parts")
def test_a_label_file_and_the_way_to_average_arrive(files, tmp_path):
    with np.load(files[0]) as arrays:
        counts = np.arange(150) % 5 < np.repeat([2, 5], 75)  # people of two and of five images
        np.savez(tmp_path / "bare.npz", embedding=arrays["embedding"][counts])
        labels = {name: arrays[name][counts] for name in ("identity", "gender")}
    labels = pd.DataFrame(labels)
    labels.loc[~labels.identity.duplicated(), "gender"] = ""  # the first image of each person
    labels.to_csv(tmp_path / "labels.csv", index=False)
    app = OwnData(tmp_path / "bare.npz")
    read(app, f"--labels {tmp_path / 'labels.csv'}")
    assert "blank in 30" in app.status.value
    app.far.value, app.weighting.value = "10%", "pair"
    app.evaluate()
    assert "done in" in app.words.value
    scores = fk.score_tensor(fk.open_data(tmp_path / "bare.npz", labels=tmp_path / "labels.csv"))
    with noticed("gender", "30 images"):
        direct = fk.evaluate(scores, far=[0.1], by="gender", weighting="pair")["empirical"]
    rates = app.report.evaluation["empirical"]
    np.testing.assert_array_equal(rates.frr_group, direct.frr_group)
    assert not np.allclose(fk.evaluate(scores, far=[0.1])["empirical"].frr, rates.frr)


def test_smaller_scores_may_be_more_alike(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))[["id1", "id2", "score"]]
    table.assign(score=-table.score).to_csv(tmp_path / "turned.csv", index=False)
    app = OwnData(tmp_path / "turned.csv")
    read(app, "--columns distance=score")
    assert not app.evaluate_button.disabled
    assert app.data.attrs["distance"]
