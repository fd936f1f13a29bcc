"""The command `frkit`: what it writes, what it says, and how it ends."""

import errno
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import ANY, Mock

import numpy as np
import pandas as pd
import pytest
import run_notebooks
import xarray as xr
from model_files import people, store, store_pairs, two_files
from paths import ROOT
from percents import in_percent
from report_faces import brief_reports, only_parts

import frkit as fk
from frkit.__main__ import BAD, main, parser

LEVELS = ["--far", "0.05", "0.1"]
QUICK = [*LEVELS, "--quick"]
pytestmark = pytest.mark.usefixtures("brief_reports")


@pytest.fixture
def two(tmp_path):
    return two_files(tmp_path)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the command wrote for two files, which lie beside it."""
    folder = tmp_path_factory.mktemp("written")
    arguments = [*two_files(folder), "--by", "gender", *QUICK]
    with brief_reports():
        assert run("report", *arguments, "-o", folder / "out") == 0
    return folder / "out"


@pytest.fixture(scope="module")
def evaluation(written):
    """That of the two files, as it was stored."""
    return fk.open_evaluation(written / "evaluation.nc")


def run(*arguments):
    return main([*map(str, arguments)])


@pytest.mark.slow
def test_the_script_of_the_documentation_has_four_outcomes(tmp_path):
    """As it is written, on the bundled faces."""
    page = (ROOT / "binder/docs/questions.md").read_text(encoding="utf-8")
    script = re.search(r"^```bash\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    command = tmp_path / "frkit"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m frkit "$@"\n')
    command.chmod(0o755)
    where = {"PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    options = {"cwd": tmp_path, "env": os.environ | where, "capture_output": True, "text": True}
    answer = subprocess.run(["bash", "-e", "-c", script], **options)
    assert re.findall(r"^status (\d)", answer.stdout, re.MULTILINE) == ["0", "1", "2", "3"]
    assert re.search(r"about [\d,]+ people would decide \(360 now\)", answer.stdout)
    steps = [line for line in answer.stderr.splitlines() if line.startswith("frkit: ")]
    assert len(steps) > 5 and "frkit: done" in steps
    assert "█" not in answer.stderr  # the progress bar is for terminals
    assert max(map(len, answer.stdout.splitlines())) <= 100


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:nothing names the images of 'one', 'two'")
def test_a_report_of_two_files(written, evaluation):
    files = {"report.html", "report.json", "evaluation.nc", "report.ipynb"}
    assert {path.name for path in written.iterdir()} == files | {"tables", "figures"}
    assert {path.suffix for path in (written / "tables").iterdir()} == {".csv", ".tex"}
    assert {path.suffix for path in (written / "figures").iterdir()} == {".svg"}
    assert sorted(path.name for path in written.parent.iterdir()) == ["one.npz", "out", "two.npz"]
    both = fk.open_data([written.parent / f"{name}.npz" for name in ("one", "two")])
    direct = fk.evaluate(fk.score_tensor(both), far=[0.05, 0.1], by="gender")
    assert np.array_equal(evaluation["empirical"].frr, direct["empirical"].frr)


@pytest.mark.slow
def test_the_notebook_has_the_numbers_of_the_report(written):
    notebook = run_notebooks.read(written / "report.ipynb")
    run_notebooks.execute(notebook, written, timeout=300)
    (shown,) = [output.data["text/html"] for output in notebook.cells[2].outputs]
    frr = pd.read_csv(written / "tables/frr.csv", dtype=str)
    for rate in frr["FRR, new people"]:
        assert f"{float(rate):.2f} [" in shown


@pytest.mark.slow
def test_an_earlier_report_is_replaced_and_nothing_else_is(small_report, two, tmp_path, capsys):
    out = tmp_path / "out"
    small_report.save(out)
    assert not (out / "tables/groups.csv").exists()
    assert run("report", two[0], "--by", "gender", *QUICK, "-o", out) == 0
    printed = capsys.readouterr().out
    assert "FRR, new people" in printed and f"{out / 'report.html'}: the report" in printed
    assert (out / "tables/groups.csv").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    assert run("report", two[0], *QUICK, "-o", mine) == 2
    assert "not part of a report" in capsys.readouterr().err
    assert (mine / "thesis.txt").read_text() == "mine"


def with_rates_alone(report):
    """It saves the rates of its evaluation alone, which has many variables."""
    rates = report.evaluation["empirical"].to_dataset()
    attributes = xr.Dataset(attrs=report.evaluation.attrs)
    report.evaluation = xr.DataTree.from_dict({"/": attributes, "empirical": rates})
    return report


@pytest.fixture(scope="module")
def small_report():
    return with_rates_alone(fk.report(people(), far=[0.1], quick=True, progress=False))


def contents(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a/new", "link", "link/in", "dangling", "."])
def test_a_report_is_written_wherever_the_folder_leads(small_report, tmp_path, monkeypatch, name):
    """Twice: the second time an earlier report is there."""
    inside = tmp_path / "inside"
    elsewhere = tmp_path / "elsewhere"
    for folder in (inside, inside / "empty", elsewhere):
        folder.mkdir()
    (inside / "link").symlink_to(elsewhere)
    (inside / "dangling").symlink_to(tmp_path / "nowhere")
    if name == ".":
        inside = inside / "empty"
    monkeypatch.chdir(inside)
    for _ in range(2):
        small_report.save(name)
        report = json.loads((inside / name / "report.json").read_text())
        assert contents(inside / name) == {*report["files"]}
        assert {"report.html", "evaluation.nc", "tables/frr.csv"} <= {*report["files"]}
    assert (tmp_path / "inside/link").is_symlink() and (tmp_path / "inside/dangling").is_symlink()


@pytest.mark.slow
def test_own_files_beside_an_earlier_report_stay(small_report, tmp_path):
    own = ["notes.txt", "mine/plot.svg"]
    small_report.save(tmp_path)
    for name in own:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    with only_parts():
        of_groups = fk.report(people(), far=[0.1], by="group", quick=True, progress=False)
    with_rates_alone(of_groups).save(tmp_path)
    assert (tmp_path / "tables/groups.csv").exists()
    small_report.save(tmp_path)
    assert not (tmp_path / "tables/groups.csv").exists()
    assert all((tmp_path / name).read_text() == "mine" for name in own)


def test_own_files_with_names_of_a_report_are_refused_before_anything_is_read(
    small_report, tmp_path, capsys
):
    earlier, own = tmp_path / "earlier", tmp_path / "own"
    small_report.save(earlier)
    own.mkdir()
    paths = [
        earlier / name for name in ("tables/groups.csv", "tables/notes.txt", "figures/own.svg")
    ]
    for path in [*paths, own / "report.html"]:
        path.write_text("mine")
        before = contents(tmp_path)
        folder = own if path.parent == own else earlier
        assert run("report", "no_such_file.npz", *QUICK, "-o", folder) == 2
        message = capsys.readouterr().err
        assert "not part of a report" in message and "no_such_file" not in message
        assert contents(tmp_path) == before and path.read_text() == "mine"
        path.unlink()


@pytest.mark.parametrize("name", ["a.txt", "a.txt/out", "x" * 300])
def test_a_folder_that_cannot_be_is_refused_before_anything_is_read(tmp_path, capsys, name):
    (tmp_path / "a.txt").write_text("mine")
    assert run("report", "no_such_file.npz", *QUICK, "-o", tmp_path / name) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert contents(tmp_path) == {"a.txt"}


@pytest.mark.slow
def test_every_table_has_a_file_of_its_own(tmp_path):
    """Names of models that differ in signs alone, or are no names of files."""
    faces = people()
    noise = np.random.default_rng(1).normal(size=faces.embedding.shape)
    names = ["a b", "A-b", "con", "x" * 300]
    models = {
        name: faces.assign(embedding=faces.embedding + 0.1 * k * noise)
        for k, name in enumerate(names)
    }
    with only_parts("models", "people"):
        report = fk.report(models, far=[0.1], quick=True, progress=False)
    with_rates_alone(report).save(tmp_path / "out")
    files = contents(tmp_path / "out")
    assert len([name for name in files if name.endswith(".csv")]) == len(report.tables)
    assert len([name for name in files if name.endswith(".svg")]) == len(report.pictures)
    assert all(
        re.fullmatch("[a-z0-9_]+[.](csv|tex|svg)", Path(name).name) for name in files if "/" in name
    )


@pytest.mark.slow
def test_columns_of_scores_are_models(tmp_path, capsys):
    path = store_pairs(tmp_path)
    assert (
        run(
            "report",
            path,
            "--columns",
            "score=arc face",
            "score=cos face",
            *QUICK,
            "-o",
            tmp_path / "o",
        )
        == 0
    )
    assert "arc face is better than cos face" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.csv", b"score,genuine\n0.5,1\n0.4,0\n0.3", "line 4"),
        ("faces.pkl", pickle.dumps({"embedding": 1}), "unpickling"),
        ("nowhere.npz", None, "there is no such file"),
    ],
)
def test_bad_files_end_with_one_line_and_no_folder(tmp_path, capfd, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    before = sorted(os.listdir(tmp_path))
    assert run("report", path, *QUICK, "-o", tmp_path / "out") == 2
    captured = capfd.readouterr()
    (line,) = [line for line in captured.err.splitlines() if "frkit: reading" not in line]
    assert message in line and path.name in line and captured.out == ""
    assert sorted(os.listdir(tmp_path)) == before


def test_a_line_of_python_in_a_message_stays_python(tmp_path, capfd):
    """Whoever saved names as objects is told how to save them again."""
    names = np.array(["ada", "bo"] * 2, dtype=object)
    np.savez(tmp_path / "f.npz", embedding=np.eye(4), identity=names)
    assert main(["look", str(tmp_path / "f.npz")])
    assert re.search(r"np\.savez\(.*identity=\[", capfd.readouterr().err)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing_half_written(tmp_path, sign):
    path = store(tmp_path / "many.npz", people(400, 10))
    command = [sys.executable, "-m", "frkit", "report", path, "--by", "gender"]
    options = {
        "env": os.environ | {"PYTHONPATH": str(ROOT)},
        "text": True,
        "start_new_session": True,
    }
    # a shell's background job ignores the signal, and hands that down
    heard = signal.signal(sign, signal.default_int_handler)
    process = subprocess.Popen(
        [*command, "-o", tmp_path / "out"], stderr=subprocess.PIPE, **options
    )
    signal.signal(sign, heard)
    printed = ""
    while "reading" not in printed:
        printed += process.stderr.readline()
    time.sleep(2)
    process.send_signal(sign)
    rest = process.communicate(timeout=120)[1]
    # after the message Python itself sometimes ends by SIGINT, which is 130 in a shell, too
    assert process.returncode in (130, -signal.SIGINT)
    assert "stopped; nothing was written" in rest and "Traceback" not in rest
    assert os.listdir(tmp_path) == ["many.npz"]


@pytest.mark.slow
def test_a_full_disk_is_one_line(two, tmp_path, monkeypatch, capsys):
    from frkit.reporting import writing

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing, "numbers", full)
    assert run("report", two[0], *QUICK, "-o", tmp_path / "out") == 2
    message = capsys.readouterr().err
    assert "out cannot be written (No space left on device); free some space" in message
    assert not [*(tmp_path / "out").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "status", "message"),
    [
        (["frr@0.1=0.9", "eer=90%"], 0, "below"),
        (["FRR_max_min@0.1=1e9", "frr_group@5%=0.0001%"], 1, "ABOVE"),
        (["frr@0.2=1"], 3, "no interval of frr@0.2 of one, two. It has"),
        (["colour=1"], 3, "no interval of colour"),
        (["frr_group[M]=1"], 3, r"no interval of frr_group[M]"),
        (["frr@x=1"], 3, "'frr@x=1' is not a limit"),
        (["frr=nan"], 3, "is not finite"),
    ],
)
def test_check_has_four_outcomes(written, capsys, limits, status, message):
    assert run("check", written / "report.json", "--max", *limits) == status
    captured = capsys.readouterr()
    assert message in captured.out + captured.err


@pytest.mark.parametrize("arguments", [[], ["--max"], ["--maximum", "eer=1"], ["--max", "eer=1"]])
def test_wrong_arguments_of_check_are_no_outcome(tmp_path, arguments):
    """Argparse alone would end with 2, which says that the data cannot decide."""
    try:
        status = run("check", tmp_path / "nowhere.json", *arguments)
    except SystemExit as end:
        status = end.code
    assert status == 3


@pytest.mark.slow
def test_a_limit_that_no_rate_can_reach_is_refused(written, capsys):
    """5 is meant as 5 %, and would always be kept."""
    assert main(["check", str(written), "--max", "frr@0.1=5"]) == 3
    assert "write 5%" in capsys.readouterr().err


@pytest.mark.slow
def test_a_measure_that_falls_from_its_fair_value_has_no_limit(tmp_path_factory, capsys):
    faces = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0).sample(4, seed=1)
    faces = faces.assign_coords(group=("image", np.repeat(["a", "b"], 80)))
    folder = tmp_path_factory.mktemp("fair")
    with only_parts("fairness"):
        report = fk.report(faces, by="group", far=[0.1], quick=True, progress=False)
    with_rates_alone(report).save(folder)
    assert main(["check", str(folder), "--max", "fdr@0.1=0.9"]) == 3
    assert "fdr is 1 where groups are alike" in capsys.readouterr().err


def damaged(report):
    """Reports of which a part is missing or something else."""
    whole = json.dumps(report)
    yield whole[: len(whole) // 2]
    for part in ("schema", "schema_version", "values", "provenance"):
        for instead in (None, 3, "x", [], [1]):
            yield json.dumps(report | {part: instead})
    for name in ("estimate", "lower", "measure", "interval_level"):
        values = [value | {name: ["x"]} for value in report["values"]]
        yield json.dumps(report | {"values": values})


@pytest.mark.slow
def test_a_damaged_report_is_no_outcome(written, tmp_path, capsys):
    path = tmp_path / "report.json"
    for text in damaged(json.loads((written / "report.json").read_text())):
        path.write_text(text)
        assert run("check", path, "--max", "eer=1e-9") == 3
        assert "report.json" in capsys.readouterr().err
    assert run("check", written / "evaluation.nc", "--max", "eer=1e-9") == 3
    assert len(capsys.readouterr().err) < 300


@pytest.mark.slow
def test_check_of_one_model(written, capsys):
    assert run("check", written, "--max", "frr@10%=0.9", "--model", "two") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("below frr@0.1 two: ")
    assert run("check", written, "--max", "frr=1", "--model", "three") == 3
    assert "no interval of frr of three" in capsys.readouterr().err


@pytest.mark.slow
def test_outcomes_follow_the_interval(written, evaluation, capsys):
    """Above its upper end, at the estimate, and below its lower end."""
    frr = fk.band(evaluation, "frr").sel(far_level=0.1, model="one")
    limits = [f"frr@0.1={limit.item()}" for limit in (2 * frr.upper, frr.estimate, frr.lower / 2)]
    assert run("check", written, "--model", "one", "--max", *limits) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["below", "undecided", "ABOVE"]


@pytest.mark.slow
def test_an_interval_has_the_same_digits_everywhere(written, evaluation, capsys):
    report = json.loads((written / "report.json").read_text())
    table = fk.table(fk.band(evaluation, "frr"))
    run("check", written, "--max", "frr=1")
    for line, (model, far), text in zip(
        capsys.readouterr().out.splitlines(), table.index, table.iloc[:, 0], strict=True
    ):
        assert f"frr@{far} {model}: {text}, limit 1" in line
    far = f"{report['leading_level']['value']:g}"
    for finding in report["findings"][:2]:
        text = table.loc[(finding["title"], far)].item()
        ends = in_percent(text).partition(" ")[2].strip("[]").replace(", ", " to ")
        assert f"interval {ends} %" in finding["text"]


@pytest.mark.slow
def test_percentages_are_numbers(two, tmp_path):
    options = ["--far", "5%", "0.1", "--quick"]
    assert run("report", two[0], *options, "-o", tmp_path / "out") == 0
    arguments = json.loads((tmp_path / "out/report.json").read_text())["options"]
    assert arguments["far"] == [0.05, 0.1]
    with pytest.raises(SystemExit) as end:
        run("report", two[0], "--far", "five", "-o", tmp_path / "new")
    assert end.value.code == 2


@pytest.mark.slow
def test_so_many_people_decide(written, evaluation, capsys):
    """The interval with so many times as many comparisons lies below the limit, and not before."""
    from frkit.intervals.effective import jeffreys

    band = fk.band(evaluation, "frr").sel(far_level=0.1)
    frr = band.isel(model=0)
    limit = float(frr.estimate + frr.upper) / 2
    assert run("check", written / "report.json", "--max", f"frr@0.1={limit}") == 2
    line = capsys.readouterr().out.splitlines()[0]
    people = int(re.search(r"about ([\d,]+) people", line)[1].replace(",", ""))
    for more, below in ((0, True), (-2, False)):
        n = float(frr.n_effective) * (people + more) / 30
        assert (jeffreys(frr.estimate.values, np.array(n), 0.95)[1] < limit) == below


@pytest.mark.slow
def test_more_people_than_can_be_foreseen(written, evaluation, capsys):
    """A limit very near the estimate: the number is not known, but it is very large."""
    band = fk.band(evaluation, "frr")
    limit = 1.001 * band.sel(far_level=0.1, model="one").estimate.item()
    assert run("check", written, "--model", "one", "--max", f"frr@0.1={limit}") == 2
    shown = capsys.readouterr().out
    assert "more than 100 times as many people (30 now)" in shown


@pytest.mark.slow
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_so_many_people_decide_a_ratio(written, evaluation, capsys, end):
    """The logarithm of an end approaches that of the estimate with the root of the people."""
    band = fk.band(evaluation, "frr_max_min")
    ratio = band.sel(far_level=0.1).isel(model=0)
    limit = np.sqrt(float(ratio.estimate * ratio[end]))  # half way: it takes four times as many
    assert run("check", written, "--model", "one", "--max", f"frr_max_min@0.1={limit}") == 2
    n_people = re.search(r"about ([\d,]+) people would decide", capsys.readouterr().out)[1]
    assert int(n_people) == pytest.approx(4 * 30, abs=1)


def test_a_report_has_15_options_and_a_check_two():
    options = {}
    (commands,) = (action.choices for action in parser()._actions if action.dest == "command")
    for name in ("report", "check"):
        actions = commands[name]._actions
        options[name] = [each.dest for each in actions if each.option_strings]
    assert len(options["report"]) == 1 + 15  # with --help
    assert options["check"] == ["help", "max", "model"]


def test_every_option_arrives(two, tmp_path, monkeypatch):
    from frkit.reporting import report

    instead = Mock(side_effect=fk.InputError("enough"))
    monkeypatch.setattr(report, "report", instead)
    evaluation_options = "--by gender --by age --quick --threshold 0.3 --varying first"
    evaluation_options += " --weighting pair"
    more = "--failed rejected --same-images --missing -1 --scores f --labels l"
    columns = ["--columns", "genuine=is it?", "race=r1", "race=r2", "probe="]
    last = ["--columns", "identity={id}.jpg", "--kind", "pairs", "-o", tmp_path / "new"]
    assert run("report", two[0], *evaluation_options.split(), *more.split(), *columns, *last) == 2
    opening = {"kind": "pairs", "scores": "f", "labels": "l", "same_images": True}
    opening |= {"missing": [-1.0], "failed": "rejected"}
    opening["columns"] = {"genuine": "is it?", "race": ["r1", "r2"], "probe": None}
    opening["columns"]["identity"] = "{id}.jpg"
    instead.assert_called_once_with(
        two[0],
        by=["gender", "age"],
        far=[1e-2, 1e-3, 1e-4],
        threshold=[0.3],
        quick=True,
        weighting="pair",
        varying="first",
        opening=opening,
        progress=ANY,  # what says its steps
    )


def test_a_number_out_of_range_is_named_as_it_was_given(two, tmp_path, capsys):
    assert run("report", two[0], "--far", 2, 0.1, "-o", tmp_path / "report") == BAD
    assert "far must lie in (0, 1), got 2: " in capsys.readouterr().err


def test_identities_of_another_length_are_counted_at_once(tmp_path, capsys):
    """The first answer was that no column is the identity."""
    embedding = np.random.default_rng(0).normal(size=(20, 8))
    people = np.repeat(["a", "b", "c"], 5)
    np.savez(tmp_path / "inside.npz", embedding=embedding, identity=people)
    np.save(tmp_path / "beside.npy", embedding)
    pd.DataFrame({"identity": people}).to_csv(tmp_path / "labels.csv", index=False)
    for files in (["inside.npz"], ["beside.npy", "--labels", tmp_path / "labels.csv"]):
        assert run("look", tmp_path / files[0], *files[1:]) == BAD
        message = capsys.readouterr().err
        assert all(word in message for word in ("'identity': (15,)", "20 rows"))
