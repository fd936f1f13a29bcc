"""The usual names of columns and the usual words for genuine and impostor."""

import re

import numpy as np
import pandas as pd


def _sets(**texts):
    """Split each text into a set of words."""
    return {role: frozenset(text.split()) for role, text in texts.items()}


# Names are compared whole, in lower case, without blanks and signs (`simplified`). Those that mean
# something else elsewhere are weak: the data must agree with them.
NAMES = _sets(
    score="""score scores similarity similarities sim sims cosine cosines cos cossim
        cosinesimilarity simscore
        similarityscore cosinescore matchscore matchingscore comparisonscore llr plda pldascore""",
    distance="""distance distances dist dists l1 l2 l2distance l2dist euclidean euclideandistance
        cosinedistance cosdist dissimilarity hd hamming hammingdistance""",
    genuine="""genuine mated mate match matched same samesame sameperson sameidentity sameid
        samesubject samespeaker sameuser sameface sameclass actual actuals actualissame target
        truth true groundtruth gt positive""",
    impostor="""impostor imposter different diff nonmated nontarget nonmatch mismatch
        differentperson negative""",
    identity="""identity identities identityid subject subjects subjectid subjectids
        subjectname person persons
        personid personname people user username individual individualid speaker speakerid spk
        spkid sid pid uid userid client clientid celebrity celebrityid realid who subj subjid
        patient patientid donor donorid participant participantid""",
    image="""image images img imgs imagename imagenames imageid imagefile imagepath imgpath filename
        filenames file files filepath path paths fileid filelist key photo template templateid templ
        templateids imglist imagelist imgpaths imagepaths sample sampleid utterance utt
        utteranceid recording wav audio fname face pic picture input""",
    embedding="""embedding embeddings emb embs feature features feat feats vector vectors template
        templates x descriptor descriptors encoding encodings representation""",
)
WEAK = _sets(
    genuine="label labels y ytrue key class type kind pair pairtype trialtype comparisontype",
    identity="label labels name names id ids class classid target targets y",
)
IDS = frozenset({"", "id", "ids", "name", "names"})  # of people or of images: the data say which
PREFIXES = frozenset(
    "f feat feats feature features emb embs embedding embeddings dim d x v vec e".split()
)
PREFIXES |= {""}  # of columns that are called 0, 1, ...

# Words within a name that say what a column is not.
_WITHIN = _sets(
    decision="""decision decisions accept accepted reject rejected pred predicted prediction
        predictions verified hypothesis output verdict result""",
    no_score="""liveness detection det weight count number id""",
    measured="""quality confidence conf threshold thr duration pose yaw pitch roll blur
        sharpness landmark landmarks bbox box time gap fold year iod width height size
        index line row""",
    attribute="""age ages gender genders sex race races ethnicity ethnicities ethnic
        ethn skin nationality nationalities country""",
)
DECISION = _WITHIN["decision"]
NO_SCORE = _WITHIN["no_score"] | _WITHIN["measured"] | {"age"}
ATTRIBUTES = _WITHIN["attribute"]

_TRUTH = _sets(
    genuine="""1 true yes y match mated target genuine same positive mate client intra intraclass
        sameperson samesubject sameidentity pos gen authentic
        wahr vrai verdadero vero ja oui si sí sim tak да
        gleich même igual""",
    impostor="""0 -1 false no n falsch faux falso nein non nie não nao nee нет verschieden ungleich
        différent diferente nonmatch nonmated nontarget
        impostor imposter
        different diff differentperson differentsubject differentidentity
        negative neg imp mismatch nomatch nonmate inter interclass""",
)
# of probes and references; what was enrolled is the reference, whichever side a list names first
LONG_MARKS = """probe-reference probe-bio_ref probe-gallery probe-ref query-gallery query-reference
    test-enrol test-enroll verif-enroll verify-enroll test-enrollment test-model
    segment-model utterance-model utt-model
    query-candidate probe-candidate source-target query-target test-reference test-ref
    unknown-known"""
SHORT_MARKS = "left-right first-second a-b l-r x-y 1-2"
MARKS = [tuple(marks.split("-")) for marks in f"{LONG_MARKS} {SHORT_MARKS}".split()]
NUMBERED = re.compile(r"^(.*?)([0-9]+)$")


# names of files, arrays or columns of scores of one kind
OF_ONE_KIND = {
    "genuine": NAMES["genuine"] | {*"gen pos tar client intra authentic mates".split()},
    "impostor": NAMES["impostor"] | {*"imp neg non inter impostors imposters nonmates".split()},
}


def kinds_of_scores(names):
    """Return the names of genuine and of impostor scores, if there are just these two; or None."""
    names = [name for name in names if name]
    if len(names) != 2:
        return None
    shared = set.intersection(*map(words_of, names))  # such as the name of a model
    kinds = {}
    for name in names:
        stems = {re.sub("scores?$", "", simplified(name)), "".join(words_of(name) - shared)}
        kinds |= {kind: name for kind in OF_ONE_KIND if stems & OF_ONE_KIND[kind]}
    return kinds if len(kinds) == 2 else None


def simplified(name):
    """Return a name in lower case, without blanks and signs: "Person_ID" is "personid"."""
    return re.sub(r"[\W_]+", "", str(name)).lower()


def truth_of(name):
    """Return a simplified name without "is" and "label": "is_same" becomes "same"."""
    return re.sub("^is|(?<=.)labels?$", "", simplified(name))


def words_of(name):
    """Return the words of a name in lower case: "L2 dist (arc)" has l2, dist and arc."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return {word for word in re.split(r"[\W_]+", parted.lower()) if word}


def is_known_name(name):
    """Return whether a text is a usual name of a column, or of the column of one side."""
    usual = frozenset().union(*NAMES.values(), *WEAK.values())
    sides = {*LONG_MARKS.replace("-", " ").split()}
    return bool({simplified(name), truth_of(name)} & usual or words_of(name) & sides)


def words_of_truth(column):
    """Return which cells say genuine and which say impostor, of text or numbers."""
    if column.dtype == object:
        column = column.map(str, na_action="ignore")
    codes, distinct = pd.factorize(column)  # each distinct word is read once
    text = pd.Series(distinct, dtype=object).astype(str).str.strip().str.lower()
    text = text.str.removesuffix(".0")
    bare = text.where(text == "-1", text.str.replace(r"[\W_]+", "", regex=True))
    if {"0", "-1"} <= {*bare}:  # -1 is a third class there
        bare = bare.where(bare != "-1", "")
    verdicts = bare.isin(_TRUTH["genuine"]), bare.isin(_TRUTH["impostor"])
    return [np.append(verdict, False)[codes] for verdict in verdicts]  # missing: the last


# --- columns that belong together -----------------------------------------------------------------


def numbered_runs(header):
    """Return columns that are numbered without gaps from 0 or 1, by the text before the number."""
    names_by_number = {}
    for name in header:
        match = NUMBERED.match(name)
        if match:
            names_by_number.setdefault(simplified(match[1]), {})[int(match[2])] = name
    runs = {}
    for prefix, names in names_by_number.items():
        first, last = min(names), max(names)
        if first <= 1 and last - first == len(names) - 1:
            runs[prefix] = [names[number] for number in sorted(names)]
    return runs


def side_columns(header):
    """Return columns whose names differ only in the mark of a side, by what they share."""
    pairs = {}
    taken = {name for run in numbered_runs(header).values() if len(run) > 2 for name in run}
    named = [name for name in header if not name.isdigit()]  # a number is only a place
    in_lower_case = {name: re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in named}
    by_lower_case = {lower: name for name, lower in reversed(in_lower_case.items())}
    for first, second in MARKS:
        for name, lower in in_lower_case.items():
            for mark in re.finditer(_pattern(first), lower):
                before, after = lower[: mark.start()], lower[mark.end() :]
                other = by_lower_case.get(before + second + after)
                if other is not None and not {name, other} & taken:
                    stem = f"{before} {after}".strip("_-. ")
                    pairs.setdefault(stem, (name, other))
                    taken |= {name, other}
    return pairs


def _pattern(mark):
    """Return a pattern that finds the mark of a side; a short mark must be a separate word."""
    letters = "0-9" if mark.isdigit() else "a-z"
    return mark if len(mark) > 2 else f"(?<![{letters}]){mark}(?![{letters}])"


def are_places(names):
    """Return whether a list of names counts from 0 or 1, as pandas numbers rows."""
    return any(names == [*map(str, range(k, k + len(names)))] for k in (0, 1))
