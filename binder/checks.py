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
    is_right = agrees(answer, right_answer(number))
    print(f"Exercise {number}:", "right." if is_right else "not yet. Think again.")


def right_answer(number):
    """The right answer: a word, a number, or the lowest and the highest number."""
    encoded = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return json.loads(base64.b64decode(encoded[number]))


def agrees(answer, right):
    """Whether a word is the same, or a number near enough."""
    if isinstance(right, str):
        return str(answer).strip().casefold() == right.casefold()
    try:
        value = float(answer)
    except (TypeError, ValueError):
        return False
    if isinstance(right, list):
        lowest, highest = right
        return lowest <= value <= highest
    return isclose(value, right, rel_tol=0.02, abs_tol=1e-9)
