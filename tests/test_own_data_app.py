"""The notebook's controls for own data: reading, mapping, evaluating, stopping, exporting; bad input becomes text."""

import sys
import time
from datetime import UTC, datetime
from runpy import run_path

import local
import numpy as np
import pandas as pd
import pytest

import frkit as fk
from frkit.explore.own_data import MOST_UPLOADED, NONE, OwnData

NASTY = "<script>alert(1)</script> $\\frac"


@pytest.fixture
def file(tmp_path):
    faces = fk.vmf.mixture(24, 8, seed=0, groups={"a": {"kappa": 20}, NASTY: {"kappa": 9}}).sample(
        5, seed=1
    )
    path = tmp_path / "faces.npz"
    labels = {"identity": faces.identity.values, "gender": faces.group.values}
    np.savez(path, embedding=faces.embedding.values, **labels)
    return path


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


def waited(app, seconds=120):
    app.thread.join(seconds)
    assert not app.thread.is_alive()
    return app


def upload(app, name, content):
    one = {"name": name, "type": "", "size": len(content), "content": memoryview(content)}
    app.upload.value = (one | {"last_modified": datetime.now(UTC)},)


def test_a_file_is_evaluated_and_exported(file, tmp_path):
    app, said = OwnData(), []
    app.said.observe(lambda change: said.append(change.new), names="value")
    app.path.value = str(file)
    app.read()
    assert "reading faces.npz ..." in said[0] and "120 images" in said[1]
    assert (app.by.value, app.run_button.disabled) == ("gender", False)
    app.far.value, told = "0.05, 0.1", []
    app.step.observe(lambda change: told.append(change.new), names="value")
    app.start()
    waited(app)
    assert any("s to go" in words for words in told) and "done in" in told[-1]
    direct = fk.report(
        fk.open_faces(file), by="gender", far=[0.05, 0.1], quick=True, progress=False
    )
    assert app.found.tables["FRR with 95% intervals"].equals(
        direct.tables["FRR with 95% intervals"]
    )
    assert "<script" not in app.result.value and "&lt;script&gt;" in app.result.value
    assert 'download="report.html"' in app.link.value
    app.folder.value = str(tmp_path / "out")
    app.save()
    assert (tmp_path / "out/report.html").exists() and "written" in app.said.value
    assert "data = '../faces.npz'" in (tmp_path / "out/report.ipynb").read_text()


def test_columns_are_guessed_and_can_be_mapped_anew(table):
    app = OwnData(table)
    assert app.columns["score"].value == ("score",) and app.columns["probe_identity"].value == "id1"
    assert app.mapping.layout.display == "" and "<table" in app.preview.value
    app.columns["score"].value = ("cos_good", "cos_poor")
    assert app.data.model.values.tolist() == ["cos_good", "cos_poor"] == list(app.models.value)
    app.columns["genuine"].value = "id1"
    assert 'role="alert"' in app.said.value and app.run_button.disabled
    app.columns["genuine"].value = NONE
    assert not app.run_button.disabled


def test_an_evaluation_can_be_stopped(file):
    app = OwnData(file)
    app.quick.value = False
    app.start()
    app.stop()
    waited(app)
    assert "stopped" in app.step.value and app.found is None and not app.run_button.disabled


def test_a_step_that_runs_is_stopped_too(file, monkeypatch):
    """A report that tells nothing for a minute."""

    def long_step(*_given, **_named):
        for _ in range(6000):
            time.sleep(0.01)

    monkeypatch.setattr(sys.modules[OwnData.__module__], "report", long_step)
    app = OwnData(file)
    app.start()
    time.sleep(0.3)
    app.stop()
    waited(app, seconds=2)
    assert "stopped" in app.step.value and app.stop_button.disabled and not app.run_button.disabled


def test_an_upload_may_have_what_the_server_lets_through(monkeypatch):
    """The command that starts the server says so to both; the module reads it when it is loaded, here once more."""
    limit = f"'websocket_max_message_size': {local.MOST_UPLOADED + local.ENVELOPE}"
    assert any(limit in word for word in local.app([])) and any(
        limit in word for word in local.lab([])
    )
    path = sys.modules[OwnData.__module__].__file__
    monkeypatch.delenv(local.UPLOAD, raising=False)
    assert run_path(path)["MOST_UPLOADED"] == 9_000_000
    monkeypatch.setenv(local.UPLOAD, str(local.MOST_UPLOADED))
    assert run_path(path)["MOST_UPLOADED"] == local.MOST_UPLOADED


def test_an_upload_is_checked_before_it_is_read(file):
    app = OwnData(file)
    upload(app, "notes.pkl", b"anything")
    assert "ever unpickled" in app.said.value and app.data is None and app.run_button.disabled
    upload(app, "big.npz", b"x" * (MOST_UPLOADED + 1))
    assert "give its path instead" in app.said.value
    upload(app, "../../etc/<b>.npz", file.read_bytes())
    assert not app.run_button.disabled and app.data.sizes["image"] == 120
    assert app.source.name == "<b>.npz" and app.source.parent.name.startswith("tmp")


def test_what_is_wrong_becomes_text(file, tmp_path):
    app = OwnData(tmp_path / "nowhere.npz")
    assert "there is no such file" in app.said.value and app.run_button.disabled
    app = OwnData(file)
    app.far.value = "one percent"
    app.start()
    assert "FAR levels must be numbers" in app.said.value
    app.far.value = "7"
    app.start()
    waited(app)
    assert "far must lie in (0, 1)" in app.said.value and "Traceback" not in app.said.value


def test_a_guess_of_the_time_follows_the_choices(file):
    app = OwnData(file)
    quick = app.step.value
    app.quick.value = False
    assert "takes about" in quick and app.step.value != quick
