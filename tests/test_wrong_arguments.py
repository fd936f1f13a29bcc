"""No wrong argument ends in a raw error, or is passed over: all cases of `wrong_arguments.py` that take little time."""

import re
import warnings
from functools import cache

import pytest
import wrong_arguments

# What each argument may be among all that is tried; whatever else is tried must end in an InputError.
FITS = {
    "faces, image": "None", "faces, model": "None", "faces, varying": "dict|DataTree",
    "open_faces, labels": "None", "open_faces, embedding": "None", "open_faces, identity": "None",
    "open_faces, image": "None", "open_faces, attributes": "None|empty list",
    "open_faces, varying": "None|dict|DataTree",
    "score_tensor, chunks": "number|large", "score_tensor, symmetric": "true",
    # failed comparisons are counted, those that are infinite are refused when they are swept
    "score_matrix, values": ".*infinite|masked|a NaN|huge|all NaN|of whole numbers|of objects",
    "score_matrix, probe_identity": "all text", "score_matrix, reference_identity": "all text",
    "score_matrix, probe": "None", "score_matrix, reference": "None", "score_matrix, attributes": "None|dict|DataTree",
    "score_matrix, chunks": "number|large", "open_scores, labels": "None",
    "pairs, score": "a hole|of objects|masked|a NaN|huge|of whole numbers", "pairs, genuine": "None",
    "pairs, model": "None", "Resampling, n": "number|large", "Resampling, seed": "number|zero|large",
    "Resampling, strata": "None", "far_levels, highest": "fraction", "far_levels, per_decade": "number",
    "floor, level": "fraction", "compare, level": "fraction", "canonical_scores, seed": "number|zero|large",
    "vmf.mixture, n_identities": "number", "vmf.mixture, dim": "number", "vmf.mixture, seed": "number|zero|large",
    "vmf.mixture, kappa": "number|fraction|true|DataArray", "vmf.mixture, groups": "None",
}  # fmt: skip
MARKS = "None|number|zero|negative|fraction|NaN|infinite|large|true|empty list|square|DataArray|tuple"
FITS |= {f"{name}, missing": MARKS for name in ("score_matrix", "open_scores", "pairs")}
QUICK = ("faces", "stack_models", "open_faces", "score_tensor", "score_matrix", "open_scores", "pairs", "Resampling",
         "far_levels", "floor", "compare", "canonical_scores", "vmf.mixture")  # fmt: skip
OWN = {"score_tensor, similarity: function", "compare, measure: function"}  # the user's function tells its own error


@cache
def outcomes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wrong_arguments.tried(QUICK)


@pytest.mark.parametrize("function", QUICK)
def test_what_does_not_fit_ends_in_one_clear_line(function):
    cases = {case: found for case, found in outcomes().items() if case.startswith(f"{function}, ")}
    assert len(cases) > 20
    wrong = {}
    for case, found in cases.items():
        argument, words = case.split(": ")
        wanted = "accepted" if re.fullmatch(FITS.get(argument, ""), words) else "one clear line"
        if found != wanted and case not in OWN:
            wrong[case] = found
    assert wrong == {}
