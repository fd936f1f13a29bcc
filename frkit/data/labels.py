"""Labels of images as clean text, their order, and labels that vary within a person."""

import re
from unicodedata import normalize

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, InputError, listed, require, require_one_of, warn

VARYING_RULES = ("error", "keep", "split", "first", "most frequent")
ABRIDGED = re.compile(r"-?[0-9]([.,][0-9]+)?[eE][+][1-9][0-9]+")  # a long number in a spreadsheet
BEGINS_WITH_NUMBER = re.compile(r"([<>]?)=?\s*(-?\d+(?:\.\d+)?)")
CROSSED = " & "  # between the labels of crossed attributes
NO_WIDTH = "\u200b\u2060\ufeff"  # characters that no editor shows
ENDS = re.compile(rf"^[\s{NO_WIDTH}]+|[\s{NO_WIDTH}]+$")
WHOLE_FLOAT = re.compile(r"-?[0-9]+\.0")  # as pandas writes integers if one is missing
MISSING_WORDS = ("", "nan", "NaN", "NaT", "<NA>")
# what names no person, image or group; "Na" may be a name
NOBODY = frozenset(
    """unknown unk none n/a null unlabeled unlabelled unidentified anonymous - -- ? ??
    unbekannt inconnu desconocido sconosciuto desconhecido""".split()
)
NO_PERSON = NOBODY.union(
    """-1 other others anon stranger strangers nobody distractor distractors background noise
    all total totals mean average""".split()  # the last five of a row or column below the data
)
RESERVED = frozenset(
    "image feature model probe reference replicate identity far_level person embedding score "
    "threshold threshold_level varying".split()
)


def clean_labels(values, n: int, name: str, of: str = "image") -> np.ndarray:
    """Turn labels of any kind into text, "unknown" where one is missing.

    Text is stripped, letters with accents get one form (NFC; names of files on a Mac have another),
    bytes are decoded as UTF-8, and whole floats lose their ".0" (a column of ages with one gap
    arrives as floats); text does, too, where all labels are such numbers. None, NaN, NaT, pd.NA,
    masked entries, blank text, and the words "nan", "NaN", "NaT" and "<NA>" that NumPy and pandas
    write for them are missing.

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
        If `values` is not one label per image, or contains something that is not a label or text.

    Examples
    --------
    >>> clean_labels(["male", None, " female "], 3, "gender").tolist()
    ['male', 'unknown', 'female']
    """
    codes, labels = coded_labels(values, n, name, of)
    return labels.astype(str)[codes]


def coded_labels(values, n, name, of="image"):
    """Return clean labels as indices of distinct texts, and these texts; the last is "unknown"."""
    codes, distinct = _factorized(values, name, of)  # code -1, missing: the last one
    require(
        len(codes) == n,
        f"lengths differ: {name} has {len(codes)} labels, but there are {n} {of}s; give one label "
        f"per {of}",
    )
    if np.ma.is_masked(values):
        codes = np.where(np.ma.getmask(values), -1, codes)
    texts = [_text(value, name) for value in distinct]
    return codes, np.array([*_without_point_zero(texts), UNKNOWN], object)


def _factorized(values, name, of):
    """Return labels as indices of distinct ones, before NumPy converts any."""
    if hasattr(values, "dims"):  # of xarray, perhaps with an array of pandas in it
        values = values.values
    if isinstance(getattr(values, "dtype", None), (pd.CategoricalDtype, pd.StringDtype)):
        codes, distinct = pd.factorize(values)
        return codes, np.asarray(distinct, object)  # pandas' own would be slow to read
    # NumPy would turn [1.0, "a"] into text, and [2**60 + 1, 0.5] into rounded floats
    dtype = object if isinstance(values, (list, tuple)) else None
    try:
        return pd.factorize(np.asarray(values, dtype))
    except (TypeError, ValueError, SystemError):  # the last for codes that no letter has
        raise InputError(
            f"{name} must be a flat list with one label per {of}; this {type(values).__name__} is "
            "none, or contains lists or damaged text"
        ) from None


def _without_point_zero(texts):
    """Return labels such as "1001.0" without their ".0", if all are whole floats."""
    labels = [text for text in texts if text != UNKNOWN]
    if not labels or not all(map(WHOLE_FLOAT.fullmatch, labels)):
        return texts
    without = labels[0].removesuffix(".0")
    warn(f"labels that are whole floats, such as {labels[0]!r}, are read as {without!r}")
    return [text.removesuffix(".0") for text in texts]


def _text(value, name):
    """Return one label as stripped text in one form of Unicode; "unknown" where blank."""
    if isinstance(value, str) and value.isascii() and "\0" not in value:  # as most are
        text = value.strip()
        return UNKNOWN if text in MISSING_WORDS else text
    is_label = not isinstance(value, (complex, np.void))
    require(is_label, f"{name} contains {value}, which is not a label; give text or numbers")
    if isinstance(value, (float, np.floating)) and value.is_integer():
        require(
            abs(value) < 2.0 ** (np.finfo(type(value)).nmant + 1),
            f"{name} contains {value}, a float so large that different numbers became equal: "
            "people would merge; read it as text or as integers",
        )
        value = int(value)
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
        text.encode()  # which half a character (a surrogate) has not
    except UnicodeError:
        text = "\0"
    require("\0" not in text, f"{name}: a label is not text, or contains NUL: {value!r}")
    text = normalize("NFC", stripped(text))
    return UNKNOWN if text in MISSING_WORDS else text


def stripped(text):
    """Return text without blanks around it, and without characters that have no width."""
    return ENDS.sub("", text)


def narrow_text(labels) -> np.ndarray:
    """Return labels as text as wide as the longest one: equal labels have equal bytes."""
    return labels.astype(object).astype(str)


def complete_labels(values, n, name, of="image"):
    """Return labels; refuse missing ones, because a person "unknown" would be many people."""
    codes, labels = complete_codes(values, n, name, of)
    return labels.astype(str)[codes]


def complete_codes(values, n, name, of="image"):
    """Return labels as `coded_labels` does; refuse those that name nobody, or several people."""
    codes, labels = coded_labels(values, n, name, of)
    is_cut = np.array(["+" in label and bool(ABRIDGED.fullmatch(label)) for label in labels])
    require(
        not is_cut.any(),
        f"{name} contains {listed(sorted(labels[is_cut]))} in {is_cut[codes].sum():,} {of}(s), "
        "long numbers that a spreadsheet cut to their first digits, so that different people "
        "became one: export this column as text",
    )
    of_people = NO_PERSON if "identity" in name else NOBODY
    is_nobody = name_nobody(labels, {UNKNOWN} if of == "model" else of_people)
    rows = np.flatnonzero(is_nobody[codes])
    words = pd.unique(labels[codes[rows]])
    require(
        len(rows) == 0,
        f"{name} is missing or {listed(words)} in {len(rows)} {of}(s), rows {rows[:5].tolist()} "
        f"(counted from 0): strangers would become one person; label or remove these {of}s",
    )
    return codes, labels


def name_nobody(labels, words=NOBODY):
    """Return which labels are words that say that nothing is known."""
    texts = pd.Series(labels, dtype=str)
    return (texts.str.lower().isin(words) | (texts == "NA")).to_numpy()


def image_names(values, n, name="image", of="image"):
    """Return names of images; refuse missing and duplicate names."""
    names = complete_labels(values, n, name, of)
    twice = names[pd.Series(names).duplicated()]
    require(
        len(twice) == 0,
        f"{name} names must be distinct, but there are several of {listed(twice)}; give each {of} "
        "its own, or keep one where they are copies",
    )
    return names


def model_names(model, n_models):
    """Return names of encoders: distinct, and as many as there are."""
    return image_names(model, n_models, "model", "model")


def labels_of_images(n, image, identity, attributes, of="image"):
    """Return the labels of images as a table, with every check of names and labels.

    Parameters
    ----------
    n : int
        Number of images.
    image, identity : array-like, shape (n,)
        Distinct names of the images, and who is in them; None is missing.
    attributes : mapping of name to array-like
    of : {"image", "probe", "reference"}
        What has these labels, for messages.

    Returns
    -------
    pd.DataFrame
        Clean text in the columns identity and one per attribute; the index is the names of images.
    """
    check_names(attributes)
    people = "identity" if of == "image" else f"{of}_identity"
    labels = {"identity": complete_labels(identity, n, people, of)}
    names = image_names(image, n, of, of)
    labels |= {name: clean_labels(values, n, name) for name, values in attributes.items()}
    return pd.DataFrame(labels, index=names)


def can_be_named(name):
    """Return whether an attribute can have this name."""
    is_text = isinstance(name, str) and name.strip() != "" and "/" not in name
    return is_text and name not in RESERVED and not name.startswith(("probe_", "reference_"))


def check_names(attributes):
    """Refuse names that no attribute can have."""
    for name in attributes:
        require(
            can_be_named(name),
            f"attribute {name!r} has a name that frkit uses itself or cannot store; rename it, or, "
            "where it starts with probe_ or reference_, give both sides as a tuple",
        )


def attributes_of(by, argument="by"):
    """Return the names of the attributes, one or several, that an argument gives."""
    names = [by] if isinstance(by, str) else by
    is_list = isinstance(names, (list, tuple)) and len(names) > 0
    require(
        is_list and all(isinstance(name, str) for name in names),
        f"{argument} must be the name of an attribute, or a list of such names to cross them; got "
        f"{by!r}",
    )
    require(len({*names}) == len(names), f"{argument} names an attribute twice: {by!r}")
    return list(names)


def require_attributes(by, attributes):
    """Refuse an attribute that is absent; say which ones there are and how to add labels."""
    for name in attributes_of(by):
        require(
            name in attributes,
            f"{name!r} is not an attribute of these scores; there is "
            f"{listed(sorted(attributes), 12) or 'none'}; a table of people or images adds others "
            "where data are opened: the option labels",
        )


def crossed(labels):
    """Return one label from several, e.g. "female & Asian"; unknown where any is."""
    if len(labels) == 1:
        return labels[0]
    texts = np.array(labels)
    wrong = texts[np.strings.find(texts, CROSSED) >= 0]
    require(
        len(wrong) == 0,
        f"labels that are crossed must not contain {CROSSED!r}, which separates them: "
        f"{listed(wrong)}",
    )
    combined = texts[0]
    for attribute in texts[1:]:
        combined = np.strings.add(np.strings.add(combined, CROSSED), attribute)
    return np.where((texts == UNKNOWN).any(axis=0), UNKNOWN, combined)


def resolve_varying(labels, identity, rule: str, name: str, person=None) -> tuple:
    """Apply the rule for an attribute that varies within an identity (DEFINITIONS.md, section 3).

    Where no person has varying labels, an image without one ("unknown") takes that of its person's
    other images, and a warning counts such images. Identities within which nothing varies are left
    as they are, whatever the rule, so applying a rule twice changes nothing. Where probes and
    references are different images, resolve both sides in one call (concatenated), because an
    identity may occur on both sides.

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
    images = pd.DataFrame({"identity": identity, "label": labels}, dtype=object)
    several = images.drop_duplicates()  # the index is the row of the first image
    several = several[several.identity.duplicated(keep=False)]
    if rule == "keep" or several.empty:  # the label varies within no person
        return labels, identity, person
    if rule == "split":
        return labels, _split(images, several), identity if person is None else person
    known = images.label.mask(images.label == UNKNOWN)
    if rule == "most frequent":
        sizes = images.groupby(["identity", "label"]).label.transform("size")
        known = known.loc[sizes.sort_values(ascending=False, kind="stable").index]
    label_of = known.groupby(images.identity).first()
    resolved = images.identity.map(label_of).fillna(UNKNOWN)
    if rule == "error":
        _refuse_varying(several, identity, name)
        n_blank, n_left = (labels == UNKNOWN).sum(), (resolved == UNKNOWN).sum()
        warn(
            f"{name!r} is blank in {n_blank} images; filled in from the same person's other "
            f"images: {n_blank - n_left}; left without a label: {n_left}"
        )
    return resolved.to_numpy(str), identity, person


def _refuse_varying(several, identity, name):
    """Refuse labels that vary, beside blank ones; several : those of people who have several."""
    labelled = several.identity[several.label != UNKNOWN]
    varying = labelled[labelled.duplicated()].unique()
    if len(varying) > 0:
        examples = several.label[several.identity == varying[0]][:4]
        shown = ", ".join(f"{label} (row {row} from 0)" for row, label in examples.items())
        raise InputError(
            f"attribute {name!r} varies within {len(varying)} of {len(np.unique(identity))} "
            f"identities, such as {varying[0]!r}: {shown}. What to do: split (one sub-identity per "
            "value), first or most frequent (one label each; fills in unknown ones), or leave the "
            "attribute out; in Python also keep (the label belongs to the image)",
            [{"varying": rule} for rule in ("split", "first", "most frequent")],
        )


def _split(images, several):
    """Return identities that carry the label in their name where it varies."""
    names = images.identity + "|" + images.label
    names = names.where(images.identity.isin(several.identity), images.identity)
    distinct = names[~images.duplicated()]
    taken = distinct[distinct.duplicated()]
    require(
        taken.empty,
        f"splitting makes names that are taken already: {listed(taken)}; rename these identities, "
        "or use no '|' in identities and labels",
    )
    return names.to_numpy(str)


def reading_order(labels, values=None):
    """Return the distinct labels without "unknown", in their natural order.

    Labels that begin with a number are sorted by it and come before words.

    Parameters
    ----------
    labels : array of str
        Clean labels.
    values : array-like, optional
        What the labels were made of: ordered categories of pandas keep their order.

    Examples
    --------
    >>> reading_order(np.array(["10-19", "3-9", "<3", "old"])).tolist()
    ['<3', '3-9', '10-19', 'old']
    """
    distinct = np.unique(labels[labels != UNKNOWN])
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        categories = clean_labels(dtype.categories, len(dtype.categories), "categories")
        return categories[np.isin(categories, distinct)]
    return np.array(sorted(distinct.tolist(), key=_reading_key), str)


def _reading_key(label):
    """Return the number at the start of a label, if any, and the label."""
    number = BEGINS_WITH_NUMBER.match(label)
    if number is None:
        return 1, 0.0, 0, label
    sign = {"<": -1, ">": 1}.get(number[1], 0)
    return 0, float(number[2]), sign, label
