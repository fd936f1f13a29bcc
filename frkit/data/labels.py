"""Labels of images as clean text, names of attributes, and attributes that vary in a person."""

from difflib import get_close_matches
from unicodedata import normalize

import numpy as np
import pandas as pd

from frkit.base import LARGEST_WHOLE, UNKNOWN, InputError, listed, require, require_one_of, warn

VARYING_RULES = ("error", "keep", "split", "first", "most frequent")
CROSSED = " & "  # between the labels of crossed attributes
MISSING_WORDS = ("", "nan", "NaN", "NaT", "<NA>")
NOBODY = (UNKNOWN, "Unknown", "None", "NA", "N/A", "null", "NULL")  # no name of a person or image
NO_IDENTITY = (*NOBODY, "-1")
RESERVED = frozenset(
    {
        "image",
        "feature",
        "model",
        "probe",
        "reference",
        "replicate",
        "identity",
        "far_level",
        "person",
    }
    | {"embedding", "score", "threshold", "threshold_level", "varying"}
)


def clean_labels(values, n: int, name: str, of: str = "image") -> np.ndarray:
    """Turn labels of any kind into text, "unknown" where one is missing.

    Text is stripped, letters with accents get one form (NFC; names of files on a Mac have another),
    bytes are decoded as UTF-8, and whole floats lose their ".0" (a column of ages with one gap
    arrives as floats). None, NaN, NaT, pd.NA, masked entries, blank text, and the words "nan",
    "NaN", "NaT" and "<NA>" that NumPy and pandas write for them are missing.

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
    np.ndarray of str, shape (n,)
        Clean text, in a new array.

    Raises
    ------
    InputError
        If `values` is not one label per image, or something in it is no label or no text.

    Examples
    --------
    >>> clean_labels(["male", None, " female "], 3, "gender").tolist()
    ['male', 'unknown', 'female']
    """
    if _is_clean(values, n):
        return values.copy()
    codes, labels = coded_labels(values, n, name, of)
    return labels.astype(str)[codes]


def coded_labels(values, n, name, of="image"):
    """Return clean labels as places among texts, of which the last is "unknown", and these."""
    codes, distinct = _factorized(values, n, name, of)  # code -1, missing: the last one
    if np.ma.is_masked(values):
        codes = np.where(np.ma.getmask(values), -1, codes)
    return codes, np.array([*_texts(distinct, name), UNKNOWN], object)


def _texts(values, name):
    """Return labels as clean text."""
    values = list(values)
    if all(type(value) is str for value in values):
        joined = "".join(values)
        if joined.isascii() and "\0" not in joined:  # as most are
            stripped = [value.strip() for value in values]
            return [UNKNOWN if text in MISSING_WORDS else text for text in stripped]
    return [_text(value, name) for value in values]


def _factorized(values, n, name, of):
    """Return the place of each value among the distinct ones, -1 where missing, and these."""
    if isinstance(getattr(values, "dtype", None), (pd.CategoricalDtype, pd.StringDtype)):
        words = f"lengths differ: {name} has {len(values)} labels, but there are {n} {of}s"
        require(len(values) == n, f"{words}; give one label per {of}")
        return pd.factorize(values)
    array = one_each(values, n, name, of)
    words = f"{name} contains {array.dtype} values, which are no labels; give text or numbers"
    require(array.dtype.kind not in "Vc", words)
    if array.dtype.kind == "M":
        array = array.astype(str)
    return pd.factorize(array.astype(object))


def _is_clean(values, n):
    """Whether these are n texts that cleaning would leave as they are: most labels come so."""
    is_array = type(values) is np.ndarray and values.shape == (n,) and values.size > 0
    if not is_array or values.dtype.kind != "U" or values.dtype.itemsize == 0:
        return False
    letters = np.ascontiguousarray(values).view(np.uint32).reshape(n, -1)
    lengths = np.strings.str_len(values)
    is_ascii = bool(letters.max() < 128) and np.array_equal((letters > 0).sum(1), lengths)
    is_stripped = np.array_equal(np.strings.str_len(np.strings.strip(values)), lengths)
    return is_ascii and is_stripped and not np.isin(values, MISSING_WORDS).any()


def one_each(values, n, name, of):
    """Return a flat array with one entry for each image or pair, as they are."""
    array = _as_they_are(values, name)
    words = f"{name} must have one dimension with one label per {of}, got shape {array.shape}"
    require(array.ndim == 1, f"{words}; make it a flat list")
    words = f"lengths differ: {name} has {len(array)} labels, but there are {n} {of}s"
    require(len(array) == n, f"{words}; give one label per {of}")
    return array


def _as_they_are(values, name):
    """Return an array in which no label was changed on the way."""
    # NumPy would turn [1.0, "a"] into text, and [2**60 + 1, 0.5] into rounded floats
    as_objects = isinstance(values, (list, tuple))
    try:
        array = np.array(values, object) if as_objects else np.asarray(values)
        if array.dtype.kind == "U":
            array = array.astype(object)  # fails for codes that no letter has
        pd.unique(array.ravel()[:1])  # fails for a list, a dict ...
    except (TypeError, ValueError, SystemError):
        words = f"{name} must be a flat list of labels; this {type(values).__name__} contains lists"
        raise InputError(f"{words}, damaged text or something else") from None
    if array.dtype.kind == "f":
        limit = 2 ** (np.finfo(array.dtype).nmant + 1)
        _refuse_rounded(array[np.isfinite(array) & (np.abs(array) >= limit)], name)
    return array


def _refuse_rounded(values, name):
    """Refuse floats so large that different whole numbers became equal: people would merge."""
    words = f"{name} contains {listed(values, 1)}, a float so large that different numbers became"
    require(len(values) == 0, f"{words} equal; read it as text or as integers")


def _text(value, name):
    """Return one label as stripped text with one code for each letter; "unknown" where blank."""
    require(not isinstance(value, complex), f"{name} contains {value}, which is no label")
    if isinstance(value, (float, np.floating)) and value.is_integer():
        _refuse_rounded([value] if abs(value) >= LARGEST_WHOLE else [], name)
        value = int(value)
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
        text.encode()  # which half a character (a surrogate) has not
        is_text = "\0" not in text
    except UnicodeError:
        is_text = False
    require(is_text, f"{name}: a label is no text, or contains NUL: {value!r}")
    text = normalize("NFC", text.strip())
    return UNKNOWN if text in MISSING_WORDS else text


def complete_labels(values, n, name, of="image"):
    """Return labels; refuse missing ones, because a person "unknown" would be many people."""
    if _is_clean(values, n) and not np.isin(values, (*NOBODY, *NO_IDENTITY)).any():
        return values.copy()
    codes, labels = complete_codes(values, n, name, of)
    return labels.astype(str)[codes]


def complete_codes(values, n, name, of="image"):
    """Return labels as `coded_labels` does; refuse those that name nobody, with their number."""
    codes, labels = coded_labels(values, n, name, of)
    nobody = NO_IDENTITY if "identity" in name else NOBODY
    rows = np.flatnonzero(pd.Index(labels).isin(nobody)[codes])
    if len(rows) > 0:
        counts = pd.Series(labels[codes[rows]]).value_counts()
        found = ", ".join(f"{word!r} in {count:,}" for word, count in counts.items())
        raise InputError(
            f"{name} is missing or 'unknown' in {len(rows)} {of}(s), rows {rows[:5].tolist()} "
            f"(counted from 0; {found}): strangers would become one person; label or remove these "
            f"{of}s"
        )
    return codes, labels


def image_names(values, n, name="image", of="image"):
    """Return names of images; refuse missing and equal ones."""
    names = complete_labels(values, n, name, of)
    twice = names[pd.Series(names).duplicated()]
    words = f"{name} names must be distinct, but there are several of {listed(twice)}"
    require(len(twice) == 0, f"{words}; give each {of} its own, or leave {name}= out")
    return names


def model_names(model, n_models):
    """Return names of encoders: distinct, and as many as there are."""
    return image_names(model, n_models, "model", "model")


def can_be_named(name):
    """Return whether an attribute can have this name."""
    is_text = isinstance(name, str) and name.strip() and "/" not in name
    is_taken = name in RESERVED or str(name).startswith(("probe_", "reference_"))
    return bool(is_text and not is_taken)


def check_names(attributes):
    """Refuse names that no attribute can have."""
    for name in attributes:
        require(
            can_be_named(name),
            f"attribute {name!r} has a name that frkit uses itself or cannot store; rename it, or, "
            "where it starts with probe_ or reference_, give both sides as a tuple",
        )


def attributes_of(by):
    """Return the names of the attributes, one or several."""
    names = [by] if isinstance(by, str) else by
    is_list = isinstance(names, (list, tuple)) and len(names) > 0
    words = (
        f"by must be the name of an attribute, or a list of such names to cross them; got {by!r}"
    )
    require(is_list and all(isinstance(name, str) for name in names), words)
    return list(names)


def require_attributes(by, attributes):
    """Refuse an attribute that is not there, and say which there are and how to add labels."""
    for name in attributes_of(by):
        near = get_close_matches(name, attributes, 1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        there = f"there is {listed(sorted(attributes), 12)}" if attributes else "there is none"
        require(
            name in attributes,
            f"by={name!r} is no attribute of these scores{meant}; {there}; a table of people or "
            "images adds others: metadata='people.csv'",
        )


def crossed(labels):
    """Return one label from several, e.g. "female & Asian"; unknown where any is."""
    if len(labels) == 1:
        return labels[0]
    texts = np.array(labels)
    wrong = texts[np.strings.find(texts, CROSSED) >= 0]
    words = f"labels that are crossed must not contain {CROSSED!r}, which stands between them"
    require(len(wrong) == 0, f"{words}: {listed(wrong)}")
    flat = texts[0]
    for attribute in texts[1:]:
        flat = np.char.add(np.char.add(flat, CROSSED), attribute)
    return np.where((texts == UNKNOWN).any(axis=0), UNKNOWN, flat)


def resolve_varying(labels, identity, rule: str, name: str, person=None) -> tuple:
    """Apply the rule for an attribute that varies within an identity (DEFINITIONS.md, section 3).

    Where labels vary within nobody, an image without one ("unknown") takes that of its person's
    other images, and a warning counts such images. Identities within which nothing varies are left
    as they are, whatever the rule, so applying a rule twice changes nothing. Where probes and
    references are different images, resolve both sides in one call (concatenated), because an
    identity may stand on both sides.

    Parameters
    ----------
    labels : array-like of str, shape (n_images,)
        The attribute's label of each image.
    identity : array-like of str, shape (n_images,)
    rule : {"error", "keep", "split", "first", "most frequent"}
        "keep" leaves everything as it is (the attribute belongs to the image). "split" makes one
        sub-identity per value, e.g. "anna|20-29". "first" gives all images of an identity its first
        known label, "most frequent" the one most images have (of equals, the first to occur).
    name : str
        The attribute, for messages.
    person : array-like of str, shape (n_images,), optional
        Who each image shows, where an earlier split has renamed identities already.

    Returns
    -------
    labels, identity : np.ndarray of str, shape (n_images,)
    person : np.ndarray of str, shape (n_images,), or None
        The identities before the first split; None where nothing was split. Images of the same
        person with different identities make no pair.

    Raises
    ------
    InputError
        If the rule is unknown, if the rule is "error" and the attribute varies, or if a
        sub-identity would take the name of another identity.

    Examples
    --------
    >>> age, who = ["20-29", "30-39", "20-29"], ["anna", "anna", "bo"]
    >>> age, identity, person = resolve_varying(age, who, "split", "age")
    >>> identity.tolist(), person.tolist()
    (['anna|20-29', 'anna|30-39', 'bo'], ['anna', 'anna', 'bo'])
    """
    require_one_of(f"varying of {name!r}", rule, VARYING_RULES)
    labels, identity = np.asarray(labels, str), np.asarray(identity, str)
    person = None if person is None else np.asarray(person, str)
    if rule == "keep":
        return labels, identity, person
    images = pd.DataFrame({"identity": identity, "label": labels}, dtype=object)
    pairs = images.drop_duplicates()  # the index is the row of the first image
    # of identities within which the label varies
    pairs = pairs[pairs.identity.duplicated(keep=False)]
    if pairs.empty:
        return labels, identity, person
    if rule == "error":
        labelled = pairs[pairs.label != UNKNOWN]
        varies = labelled.identity.duplicated()
        if not varies.any():
            return _filled(images, labelled, name), identity, person
        pairs = pairs[pairs.identity.isin(labelled.identity[varies])]
        who = pairs.identity.iloc[0]
        labels_of_one = pairs.label[pairs.identity == who][:4]
        seen = ", ".join(f"{label} (row {row} from 0)" for row, label in labels_of_one.items())
        raise InputError(
            f"attribute {name!r} varies within {pairs.identity.nunique()} of "
            f"{images.identity.nunique()} identities; the first is {who!r}: {seen}. Say what to "
            "do: varying='split' (one sub-identity per value), 'first' or 'most frequent' (one "
            "label each; fills in unknown ones), 'keep' (the label belongs to the image), or leave "
            "the attribute out"
        )
    if rule == "split":
        return labels, _split(images, pairs), identity if person is None else person
    images["unknown"] = labels == UNKNOWN
    sizes = images.groupby(["identity", "label"]).label.transform("size")
    images["count"] = sizes if rule == "most frequent" else 0
    ranked = images.sort_values(["unknown", "count"], ascending=[True, False], kind="stable")
    label_of = ranked.drop_duplicates("identity").set_index("identity").label
    return images.identity.map(label_of).to_numpy(str), identity, person


def varies(labels, identity):
    """Return whether somebody's images have different labels, not counting those without one."""
    pairs = pd.DataFrame({"identity": identity, "label": labels})
    pairs = pairs[pairs.label != UNKNOWN].drop_duplicates()
    return bool(pairs.identity.duplicated().any())


def _filled(images, known, name):
    """Return labels, those of a person's other images where an image has none."""
    label_of = known.set_index("identity").label
    labels = images.label.mask(images.label == UNKNOWN, images.identity.map(label_of))
    labels = labels.fillna(UNKNOWN)
    n_filled = int((labels != images.label).sum())
    warn(f"{name!r} is blank in {n_filled} images, which take the label of their person's others")
    return labels.to_numpy(str)


def _split(images, pairs):
    """Return identities named after their labels, where these vary."""
    split = images.identity + "|" + images.label
    names = images.identity.mask(images.identity.isin(pairs.identity), split)
    distinct = names[~images.duplicated()]
    taken = distinct[distinct.duplicated()]
    remedy = "rename these identities, or use no '|' in identities and labels"
    require(taken.empty, f"splitting makes names that are taken already: {listed(taken)}; {remedy}")
    return names.to_numpy(str)
