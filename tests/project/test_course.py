"""The course for a class: exercises with numbers and checks, and no answer in students' hands."""

import json
import re

import checks
import course
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the command writes."""
    folder = tmp_path_factory.mktemp("class") / "course"
    try:
        course.main(folder)
    except SystemExit as error:
        pytest.fail(str(error))
    return folder


def exercises():
    """All exercises of the notebooks, by number."""
    found = {}
    for path in sorted(course.NOTEBOOKS.glob("*.ipynb")):
        found |= course.exercises_of(json.loads(path.read_text(encoding="utf-8")))
    return found


def students(folder):
    return sorted((folder / "students").glob("*.ipynb"))


def sources(path, kind):
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == kind]


def test_each_lesson_has_its_exercises_in_order_and_no_answer(folder):
    notebooks = students(folder)
    lessons = sorted(course.NOTEBOOKS.glob("*.ipynb"))
    assert [path.name for path in notebooks] == [path.name for path in lessons]
    for path in notebooks:
        nbformat.validate(nbformat.read(path, as_version=4))
        text = "\n".join(sources(path, "markdown"))
        numbers = re.findall(r"\*\*Exercise (\d\d\.\d)\*\* \(\d+ min\)", text)
        assert numbers == [f"{path.name[:2]}.{n}" for n in range(1, len(numbers) + 1)] != []
        _, behind = text.split("## Exercises")
        assert "<details>" not in behind and "assert" not in behind


def test_all_answers_are_in_one_notebook(folder):
    text = "\n".join(sources(folder / "solutions.ipynb", "markdown"))
    assert all(exercise["solution"] in text for exercise in exercises().values())


def test_an_exercise_has_no_check_only_where_the_data_are_the_students_own():
    for exercise in exercises().values():
        is_of_own_data = exercise["question"].startswith("With your own data")
        assert is_of_own_data == (course.encoded(exercise) == "")


def test_check_cells_tell_the_right_answer_from_others(folder, capsys, monkeypatch):
    monkeypatch.setattr(checks, "ANSWERS", folder / "students" / "answers.json")
    cells = [source for path in students(folder) for source in sources(path, "code")]
    cells = [source for source in cells if source.startswith(course.IMPORT)]
    solutions = [exercise["solution"] for exercise in exercises().values()]
    answers = [match[1] for match in map(course.ANSWER.search, solutions) if match]
    assert len(cells) == len(answers) > 40
    shell = InteractiveShell()
    for cell, answer in zip(cells, answers):
        right = answer.split(",")[0].lstrip("(")  # of two ends the lower one
        wrong = "not yet" if right.startswith('"') else "is a number"
        outcomes = {"...": "put your answer", right: "right.", "'no idea'": wrong}
        for given, said in outcomes.items():
            shell.run_cell(cell.replace("answer = ...", f"answer = {given}")).raise_error()
            assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "answer, right, is_right",
    [
        (" Fewer", "fewer", True),
        ("more", "fewer", False),
        (0.101, 0.1, True),
        (0.11, 0.1, False),
        (0.004, [0.003, 0.01], True),
        (0.02, [0.003, 0.01], False),
    ],
)
def test_words_are_the_same_and_numbers_near(answer, right, is_right):
    assert checks.agrees(answer, right) == is_right


def test_nothing_is_written_over(folder):
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit, match="is there already"):
        course.main(folder)
    assert sorted(folder.rglob("*")) == before
