"""The app for own data: reading, mapping, evaluating, exporting; what is wrong becomes words."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_files import store_pairs, two_files
from scipy.io import savemat

import frkit as fk
from frkit.explore.app import NONE, OwnData

pytestmark = pytest.mark.usefixtures("brief_reports")


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
def test_a_file_is_evaluated_and_exported(files, tmp_path):
    app = OwnData(files[0])
    assert "150 images" in app.status.value and app.by.value == "gender"
    app.far.value, shown = "0.05, 0.1", []
    app.work.words.observe(lambda change: shown.append(change.new), names="value")
    app.work.start()
    assert any("s to go" in line for line in shown) and "done in" in shown[-1]
    scores = fk.score_tensor(fk.open_data(files[0]))
    direct = fk.evaluate(scores, far=[0.05, 0.1], by="gender")["empirical"]
    rates = app.report.evaluation["empirical"]
    np.testing.assert_array_equal(rates.frr_group, direct.frr_group)
    assert "Accuracy and fairness of one.npz" in app.result.value
    assert 'download="report.html"' in app.link.value
    app.folder.value = str(tmp_path / "out")
    app.save()
    assert (tmp_path / "out/report.html").exists() and "written" in app.place.value


@pytest.mark.slow
def test_a_mat_that_was_read_is_evaluated_without_reading_it_in_the_app(files, tmp_path):
    with np.load(files[0]) as arrays:
        savemat(tmp_path / "one.mat", {name: arrays[name] for name in arrays})
    app = OwnData(tmp_path / "one.mat")
    (tmp_path / "one.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))  # SciPy may crash on it
    app.far.value = "0.1"
    app.work.start()
    assert "done in" in app.work.words.value
    assert app.report.evaluation["empirical"].sizes["group"] == 2


@pytest.mark.slow
def test_several_files_are_models(files):
    app = OwnData("; ".join(files))
    assert app.data.model.values.tolist() == ["one", "two"] == list(app.models.value)
    app.far.value, app.models.value = "0.1", ("two",)
    app.work.start()
    assert "done in" in app.work.words.value
    assert "model" not in app.report.evaluation["empirical"].dims
    assert app.report.arguments["data"] is None, "its notebook cannot choose the models"


def test_columns_are_guessed_and_can_be_mapped_anew(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))
    table = table.rename(columns={"arc face": "second", "cos face": "third"})
    table.to_csv(tmp_path / "p.csv", index=False)
    app = OwnData(tmp_path / "p.csv")
    found = app.options.value
    assert "score=score" in found and "probe_identity=id1" in found
    assert app.mapping.layout.display == ""
    app.options.value = found.replace("score=score", "score=second score=third")
    assert app.data.model.values.tolist() == ["second", "third"] == list(app.models.value)
    app.options.value = found + " genuine=id1"
    assert 'role="alert"' in app.status.value and app.work.button.disabled
    app.options.value = "--no-such-option"
    assert "no-such-option" in app.status.value and app.work.button.disabled
    app.options.value = found
    app.read_button.click()
    assert not app.work.button.disabled


@pytest.mark.slow
def test_a_file_that_is_not_recognised_is_evaluated_once_its_columns_are_named(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))[["id1", "id2", "arc face"]]
    table.set_axis(["u", "v", "w"], axis=1).to_csv(tmp_path / "odd.csv", index=False)
    app = OwnData(tmp_path / "odd.csv")
    assert "options: --kind matrix" in app.status.value and app.work.button.disabled
    assert app.mapping.layout.display == "" and app.options.value == ""
    app.options.value = "--columns score=w probe_identity=u reference_identity=v"
    assert "3,000 pairs" in app.status.value and not app.work.button.disabled
    app.far.value = "0.1"
    app.work.start()
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
    assert app.work.button.disabled and "roles found: probe_identity" in app.status.value
    assert "--columns score=w score=v" in app.status.value
    app.options.value = "--columns score=w"
    assert not app.work.button.disabled
    app.read_button.click()
    assert not app.work.button.disabled, "what was written for a file stays"


def test_uploads_are_read_and_stay_in_their_folder(files):
    app = OwnData("; ".join(files))
    upload(app, ("notes.pkl", b"anything"))
    assert 'role="alert"' in app.status.value and app.work.button.disabled
    assert app.models.options == () and app.by.options == (NONE,), "of the file before"
    first, second = (Path(file).read_bytes() for file in files)
    upload(app, ("../../etc/<b>.npz", first), ("c.npz", second))
    assert not app.work.button.disabled
    assert app.data.sizes == {"model": 2, "image": 150, "feature": 8}
    assert app.paths[0].name == "<b>.npz" and app.paths[0].parent.name.startswith("tmp")
    assert app.path.value == "<b>.npz; c.npz"
    shown = [app.status.value, app.place.value, app.path.value]
    upload(app, ("broken.npz", b"PK nothing"))
    assert "broken.npz" in app.status.value and 'role="alert"' in app.status.value
    assert "/tmp" not in "".join([*shown, app.status.value, app.work.words.value])


def test_what_is_wrong_becomes_words(files, tmp_path):
    app = OwnData(tmp_path / "nowhere.npz")
    assert "there is no such file" in app.status.value and app.work.button.disabled
    app.sample_button.click()
    assert "2,809 images" in app.status.value and not app.work.button.disabled
    app.path.value = ""
    app.read_button.click()
    assert "No file is named" in app.status.value and app.work.button.disabled
    app = OwnData(files[0])
    app.path.value = files[1]
    app.work.start()
    assert "press Read" in app.work.words.value
    app.path.value = files[0]
    for level, message in (("one percent", "is not a number"), ("7", "far must lie in (0, 1)")):
        app.far.value = level
        app.work.start()
        assert message in app.work.words.value and "Traceback" not in app.work.words.value


@pytest.mark.slow
def test_a_report_goes_when_the_question_changes(files):
    app = OwnData(files[0])
    app.far.value = "10%"
    app.work.start()
    assert "done in" in app.work.words.value and not app.save_button.disabled
    app.by.value = NONE
    assert app.work.words.value == "" and app.save_button.disabled and app.link.value == ""
    assert "The report appears here" in app.result.value


@pytest.mark.slow
def test_a_label_file_and_the_way_to_average_arrive(files, tmp_path):
    with np.load(files[0]) as arrays:
        counts = np.arange(150) % 5 < np.repeat([2, 5], 75)  # people of two and of five images
        np.savez(tmp_path / "bare.npz", embedding=arrays["embedding"][counts])
        labels = {name: arrays[name][counts] for name in ("identity", "gender")}
    labels = pd.DataFrame(labels)
    labels.loc[~labels.identity.duplicated(), "gender"] = ""  # the first image of each person
    labels.to_csv(tmp_path / "labels.csv", index=False)
    app = OwnData(tmp_path / "bare.npz")
    app.options.value = f"--labels {tmp_path / 'labels.csv'}"
    assert "blank in 30" in app.status.value
    app.far.value, app.weighting.value = "10%", "pair"
    app.work.start()
    assert "done in" in app.work.words.value
    scores = fk.score_tensor(fk.open_data(tmp_path / "bare.npz", labels=tmp_path / "labels.csv"))
    with pytest.warns(fk.DataWarning, match="blank in 30 images"):
        direct = fk.evaluate(scores, far=[0.1], by="gender", weighting="pair")["empirical"]
    rates = app.report.evaluation["empirical"]
    np.testing.assert_array_equal(rates.frr_group, direct.frr_group)
    assert not np.allclose(fk.evaluate(scores, far=[0.1])["empirical"].frr, rates.frr)


def test_smaller_scores_may_be_more_alike(tmp_path):
    table = pd.read_csv(store_pairs(tmp_path))[["id1", "id2", "score"]]
    table.assign(score=-table.score).to_csv(tmp_path / "turned.csv", index=False)
    app = OwnData(tmp_path / "turned.csv")
    app.options.value = (
        app.options.value.replace("score=", "distance=") or "--columns distance=score"
    )
    assert not app.work.button.disabled
    assert app.data.attrs["distance"]
