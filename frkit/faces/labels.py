"""Labels of images: cleaned text, and what to do where an attribute varies within an identity."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from frkit.base import IMAGE, UNKNOWN, InputError, listed, require

VARYING_RULES = ("error", "keep", "split", "first", "most frequent")
CROSSED = " & "  # between the labels of crossed attributes
_MISSING_WORDS = ("", "nan", "NaN", "NaT", "<NA>")
_NOBODY = (UNKNOWN, "Unknown", "None", "NA", "N/A", "null", "NULL")  # words that name no person and no image


def clean_labels(values, n: int, name: str, of: str = "image") -> tuple[np.ndarray, np.ndarray]:
    """Turn labels of any kind into text, and say which are missing.

    Text is stripped, bytes are decoded as UTF-8, and whole floats lose their ".0" (a column of ages with one
    gap arrives as floats). None, NaN, NaT, pd.NA, masked entries, blank text, and the words "nan", "NaN",
    "NaT" and "<NA>" that NumPy and pandas write for them are missing.

    Parameters
    ----------
    values : array-like, shape (n,)
        One label per image (or pair).
    n : int
        How many labels there must be.
    name : str
        What the labels are, for messages.
    of : str, default "image"
        What each is a label of, for messages.

    Returns
    -------
    labels : np.ndarray of str, shape (n,)
        Clean text, in a new array; "unknown" where missing.
    missing : np.ndarray of bool, shape (n,)

    Raises
    ------
    InputError
        If `values` is not one label per image, or holds something that is no label.

    Examples
    --------
    >>> labels, missing = clean_labels(["male", None, " female "], 3, "gender")
    >>> labels.tolist(), missing.tolist()
    (['male', 'unknown', 'female'], [False, True, False])
    """
    array = one_each(values, n, name, of)
    if array.dtype.kind == "U" and isinstance(values, (list, tuple)):
        array = np.array(values, object)  # [1.0, "a"] would have become ["1.0", "a"]
    kind = array.dtype.kind
    require(kind not in "Vc", f"{name} holds {array.dtype} values, which are no labels; give text or numbers")
    if kind not in "UbiuM":
        array = np.array([_word(value, name, row) for row, value in enumerate(array.tolist())], str)
    text = np.strings.strip(array.astype(str, copy=False))
    missing = np.isin(text, _MISSING_WORDS) | np.ma.getmask(values)
    return np.where(missing, UNKNOWN, text) if missing.any() else text, missing


def one_each(values, n: int, name: str, of: str) -> np.ndarray:
    """A flat array with one entry for each image or pair."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be a flat list with one label per {of}: {error}") from None
    require(
        array.ndim == 1,
        f"{name} must have one dimension with one label per {of}, got shape {array.shape}; "
        "flatten it first, e.g. with .ravel()",
    )
    require(
        len(array) == n,
        f"lengths differ: {name} has {len(array)} labels, but there are {n} {of}s; give one label per {of}",
    )
    return array


def _word(value, name: str, row: int) -> str:
    """One label as text; blank where missing."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name}, row {row}: {value!r} is not UTF-8 text; decode it before use") from None
    require(np.ndim(value) == 0, f"{name}, row {row}: expected one label, got {value!r}")
    if pd.isna(value):
        return ""
    whole = isinstance(value, (float, np.floating)) and value.is_integer()
    return str(int(value)) if whole else str(value)


def complete_labels(values, n: int, name: str, of: str = "image") -> np.ndarray:
    """Labels none of which may be missing; a person called "unknown" would be many people."""
    labels, missing = clean_labels(values, n, name, of)
    rows = np.flatnonzero(missing | np.isin(labels, _NOBODY))
    require(
        len(rows) == 0,
        f"{name} is missing or {listed(labels[rows[:1]])} in {len(rows)} {of}(s): {_rows(rows)}; label or remove "
        f"these {of}s",
    )
    return labels


def image_names(values, n: int, name: str = IMAGE) -> np.ndarray:
    """Names of images, none of which may be missing or stand twice."""
    names = complete_labels(values, n, name)
    again = names[pd.Series(names).duplicated().to_numpy()]
    if len(again):
        rows = np.flatnonzero(names == again[0])
        raise InputError(
            f"{name} names must be distinct: {str(again[0])!r} stands in rows {_rows(rows)} "
            f"({len(again)} name(s) too many in all); give each image its own, or leave {name}= out"
        )
    return names


def model_names(model, n_models: int) -> np.ndarray:
    """Names of encoders: distinct, and as many as there are."""
    require(not isinstance(model, str), f"model must be a list with one name per encoder, got {model!r}")
    names = np.array([str(name) for name in model], str)
    require(len(names) == n_models, f"lengths differ: {len(names)} model names for {n_models} models")
    distinct = len(set(names.tolist())) == n_models and "" not in names
    require(distinct, f"model names must be distinct, got {listed(names)}")
    return names


def _rows(rows: np.ndarray) -> str:
    return ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")


def attributes_of(by) -> list[str]:
    """Names of the attributes, one or several."""
    names = [by] if isinstance(by, str) else by
    fits = isinstance(names, (list, tuple)) and len(names) > 0 and all(isinstance(name, str) for name in names)
    require(fits, f"by must be the name of an attribute, or a list of such names to cross them; got {by!r}")
    return list(names)


def crossed(labels: list[np.ndarray]) -> np.ndarray:
    """One flat label from several, e.g. "female & Asian"; unknown where any is."""
    flat, joined = labels[0], [] if len(labels) == 1 else np.unique(np.concatenate(labels))
    held = [word for word in joined if CROSSED in word]
    require(not held, f"labels that are crossed must not hold {CROSSED!r}, which stands between them: {listed(held)}")
    for more in labels[1:]:
        flat = np.char.add(np.char.add(flat, CROSSED), more)
    unknown = np.any([part == UNKNOWN for part in labels], axis=0)
    return np.where(unknown, UNKNOWN, flat)


class _Pairs(NamedTuple):
    """The distinct (identity, label) pairs, in the order in which they first occur."""

    of_image: np.ndarray  # per image: its pair
    owner: np.ndarray  # per pair: code of its identity
    label: np.ndarray  # per pair
    count: np.ndarray  # per pair: images
    first: np.ndarray  # per pair: row of its first image


def resolve_varying(labels, identity, rule: str, name: str, person=None) -> tuple:
    """Apply the rule for an attribute that varies within an identity (DEFINITIONS.md, section 3).

    An image without a label ("unknown") among labelled images of the same identity counts as varying.
    Identities within which nothing varies are left as they are, whatever the rule, so applying a rule
    twice changes nothing. Where probes and references are different images, resolve both sides in one call
    (concatenated), because an identity may stand on both sides.

    Parameters
    ----------
    labels : array-like of str, shape (n_images,)
        The attribute's label of each image.
    identity : array-like of str, shape (n_images,)
    rule : {"error", "keep", "split", "first", "most frequent"}
        "keep" leaves everything as it is (the attribute belongs to the image). "split" makes one sub-identity
        per value, e.g. "anna|20-29". "first" gives all images of an identity its first known label, "most
        frequent" the one most images have (of equals, the first to occur).
    name : str
        The attribute, for messages.
    person : array-like of str, shape (n_images,), optional
        Who each image shows, where an earlier split has renamed identities already.

    Returns
    -------
    labels, identity : np.ndarray of str, shape (n_images,)
    person : np.ndarray of str, shape (n_images,), or None
        The identities before the first split; None where nothing was split. Images of the same person with
        different identities make no pair.

    Raises
    ------
    InputError
        If the rule is unknown, if the rule is "error" and the attribute varies, or if a sub-identity would
        take the name of another identity.

    Examples
    --------
    >>> age, who = ["20-29", "30-39", "20-29"], ["anna", "anna", "bo"]
    >>> age, identity, person = resolve_varying(age, who, "split", "age")
    >>> identity.tolist(), person.tolist()
    (['anna|20-29', 'anna|30-39', 'bo'], ['anna', 'anna', 'bo'])
    """
    require(rule in VARYING_RULES, f"varying must be one of {listed(VARYING_RULES)}, got {rule!r} ({name})")
    labels, identity = np.asarray(labels, str), np.asarray(identity, str)
    person = None if person is None else np.asarray(person, str)
    if rule == "keep":
        return labels, identity, person
    pairs = _label_pairs(labels, identity)
    varies = np.bincount(pairs.owner) > 1
    if not varies.any():
        return labels, identity, person
    if rule == "error":
        raise InputError(_varying_message(pairs, varies, identity, name))
    if rule == "split":
        return labels, _split(pairs, varies, identity), identity if person is None else person
    return _chosen(pairs, rule)[pairs.owner[pairs.of_image]], identity, person


def _label_pairs(labels: np.ndarray, identity: np.ndarray) -> _Pairs:
    identity_code = pd.factorize(identity.astype(object))[0]
    label_code, words = pd.factorize(labels.astype(object))
    pair_code, pairs = pd.factorize(identity_code.astype(np.int64) * max(len(words), 1) + label_code)
    owner, word = np.divmod(pairs, max(len(words), 1))
    first = np.full(len(pairs), len(labels))
    np.minimum.at(first, pair_code, np.arange(len(labels)))
    return _Pairs(pair_code, owner, np.asarray(words, str)[word], np.bincount(pair_code), first)


def _chosen(pairs: _Pairs, rule: str) -> np.ndarray:
    """One label per identity code: known before unknown, then by count if asked, then by first occurrence."""
    count = -pairs.count if rule == "most frequent" else np.zeros_like(pairs.count)
    order = np.lexsort((pairs.first, count, pairs.label == UNKNOWN, pairs.owner))
    best = np.unique(pairs.owner[order], return_index=True)[1]
    return pairs.label[order[best]]


def _split(pairs: _Pairs, varies: np.ndarray, identity: np.ndarray) -> np.ndarray:
    """Identities named after their labels, where these vary."""
    whole = identity[pairs.first]
    parts = np.strings.add(np.strings.add(whole, "|"), pairs.label)
    names = np.where(varies[pairs.owner], parts, whole)
    taken = names[pd.Series(names).duplicated().to_numpy()]
    require(
        len(taken) == 0,
        f"splitting makes names that are taken already: {listed(taken)}; rename these identities, "
        "or use no '|' in identities and labels",
    )
    return names[pairs.of_image]


def _varying_message(pairs: _Pairs, varies: np.ndarray, identity: np.ndarray, name: str) -> str:
    who = np.flatnonzero(varies)[0]
    mine = np.flatnonzero(pairs.owner == who)
    seen = ", ".join(f"{pairs.label[k]!s} (row {pairs.first[k]})" for k in mine[:4])
    return (
        f"attribute {name!r} varies within {varies.sum()} of {len(varies)} identities; the first is "
        f"{str(identity[pairs.first[mine[0]]])!r}: {seen}. Say what to do: varying='split' (one "
        "sub-identity per value), 'first' or 'most frequent' (one label each; fills in unknown ones), "
        "'keep' (the label belongs to the image), or leave the attribute out"
    )
