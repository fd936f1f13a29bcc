#!/usr/bin/env python3
"""Write the course for a class: notebooks with checks in place of answers, and all answers.

    python3 binder/local.py course FOLDER

FOLDER/students has a notebook for each lesson, and what checks the answers to its exercises.
FOLDER/solutions.ipynb has all exercises with their answers. The folder must not be there yet.
"""

import ast
import base64
import json
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent / "notebooks"
EXERCISE = re.compile(
    r"^\*\*Exercise (?P<number>\d\d\.\d)\*\* \((?P<minutes>\d+) min\)\. (?P<question>.*?)\n\n"
    r"<details><summary>.*?</summary>\n\n(?P<solution>.*?)\n\n</details>",
    re.DOTALL | re.MULTILINE,
)
FORM = re.compile(r"\*Answer with\* (.*)\.$")
ANSWER = re.compile(r"^answer = (.*?)(?:  #.*)?$", re.MULTILINE)
TITLE = "## Exercises"
IMPORT = "from checks import check"


def main(folder=""):
    if not folder:
        sys.exit(__doc__)
    folder = Path(folder)
    if folder.exists():
        sys.exit(f"course: {folder} is there already; name a new folder")
    students = folder / "students"
    students.mkdir(parents=True)
    answers, solutions = {}, [markdown("# The course: exercises and answers")]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        exercises = exercises_of(notebook)
        if not exercises:
            sys.exit(
                f"course: no exercise was found in {path.name}; CONTRIBUTING.md, section "
                "'A notebook', says how one is written"
            )
        coded = {number: encoded(exercise) for number, exercise in exercises.items()}
        answers |= {number: text for number, text in coded.items() if text}
        solutions.append(markdown(f"## {path.stem}"))
        solutions += cells_of_solutions(exercises)
        write_notebook(students / path.name, notebook, cells_of_students(notebook))
    write(students / "answers.json", answers)
    shutil.copy(HERE / "checks.py", students)
    write_notebook(folder / "solutions.ipynb", notebook, solutions)
    print(f"wrote {students} with {len(answers)} checked exercises, and {folder}/solutions.ipynb")


def exercises_of(notebook):
    """The exercises of a notebook by their number."""
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if is_about_exercises(cell)]
    found = [match.groupdict() for text in texts for match in EXERCISE.finditer(text)]
    return {exercise["number"]: exercise for exercise in found}


def is_about_exercises(cell):
    """Whether a cell of text has the heading of the exercises."""
    lines = "".join(cell["source"]).splitlines()
    return cell["cell_type"] == "markdown" and TITLE in lines


def encoded(exercise):
    """The right answer in letters that nobody reads by chance; none of data of one's own."""
    match = ANSWER.search(exercise["solution"])
    if match is None:
        return ""
    answer = json.dumps(ast.literal_eval(match[1]))
    return base64.b64encode(answer.encode()).decode()


def cells_of_students(notebook):
    """The cells of a notebook, each exercise with a cell that checks its answer."""
    cells = []
    for cell in notebook["cells"]:
        cells += parts_of_exercises(cell) if is_about_exercises(cell) else [cell]
    return cells


def parts_of_exercises(cell):
    """The text in front of the exercises, each exercise, and the text behind them."""
    text = "".join(cell["source"])
    cells, end = [], 0
    for match in EXERCISE.finditer(text):
        cells.append(markdown(text[end : match.start()].strip()))
        cells += [markdown(heading(match) + match["question"]), code(cell_of_answer(match))]
        end = match.end()
    cells.append(markdown(text[end:].strip()))
    return [cell for cell in cells if cell["source"]]


def heading(exercise):
    return f"**Exercise {exercise['number']}** ({exercise['minutes']} min). "


def cell_of_answer(exercise):
    """Code in which a student puts an answer; empty where the data are the student's own."""
    if not encoded(exercise):
        return "# your own data: nobody knows the answer yet"
    form = FORM.search(exercise["question"])[1].replace("`", "")
    check = f'check("{exercise["number"]}", answer)'
    return "\n".join([IMPORT, "", f"answer = ...  # {form}", check])


def cells_of_solutions(exercises):
    """Cells with each exercise and its answer."""
    return [
        markdown(f"{heading(exercise)}{exercise['question']}\n\n{exercise['solution']}")
        for exercise in exercises.values()
    ]


def markdown(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code(text):
    lines = text.splitlines(keepends=True)
    empty = {"execution_count": None, "metadata": {}, "outputs": []}
    return {"cell_type": "code", "source": lines} | empty


def write_notebook(path, notebook, cells):
    """Write these cells, each with a name, in the form of another notebook."""
    named = [{"id": f"cell-{place}"} | cell for place, cell in enumerate(cells)]
    write(path, notebook | {"cells": named})


def write(path, contents):
    text = json.dumps(contents, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
