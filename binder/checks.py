"""Says of an answer to an exercise whether it is right, without showing the right one."""

import base64
import json
from math import isclose
from pathlib import Path

ANSWERS = Path(__file__).with_name("answers.json")


def check(number, answer):
    """Print whether this is the right answer to an exercise such as "01.3"."""
    if answer is ...:
        print(f"Exercise {number}: put your answer in the place of the three dots.")
        return
    right = right_answer(number)
    if not isinstance(right, str) and not is_number(answer):
        print(f"Exercise {number}: the answer is a number, such as 0.05.")
        return
    print(f"Exercise {number}:", "right." if agrees(answer, right) else "not yet. Think again.")


def right_answer(number):
    """The right answer: a word, a number, or the lowest and the highest number."""
    encoded = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return json.loads(base64.b64decode(encoded[number]))


def agrees(answer, right):
    """Whether a word is the same, or a number near enough."""
    if isinstance(right, str):
        return str(answer).strip().casefold() == right.casefold()
    if isinstance(right, list):
        lowest, highest = right
        return lowest <= float(answer) <= highest
    return isclose(answer, right, rel_tol=0.02, abs_tol=1e-9)


def is_number(answer):
    """Whether an answer can be compared with a number."""
    try:
        return float(answer) is not None
    except (TypeError, ValueError):
        return False
