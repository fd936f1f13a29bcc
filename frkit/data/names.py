"""The usual names of columns and the usual words for genuine and impostor."""

import re

import numpy as np
import pandas as pd

# Names are compared whole, in lower case, without blanks and signs (`simplified`). Those that mean
# something else elsewhere are weak: the data must agree with them.
SCORE = """score scores similarity similarities sim cosine cos cossim cosinesimilarity simscore
similarityscore cosinescore matchscore matchingscore comparisonscore llr plda pldascore"""
DISTANCE = """distance distances dist dists l1 l2 l2distance l2dist euclidean euclideandistance
cosinedistance cosdist dissimilarity"""
GENUINE = """genuine isgenuine mated ismated mate match ismatch matched same issame samesame
sameperson sameidentity samesubject samespeaker sameuser actual actuals actualissame target istarget
truth groundtruth gt positive ispositive"""
WEAK_GENUINE = "label labels y ytrue key class type kind pairtype trialtype comparisontype ismate"
IMPOSTOR = """impostor isimpostor imposter isimposter different isdifferent diff nonmated
isnonmated nontarget nonmatch mismatch differentperson negative isnegative"""
IDENTITY = """identity identities identityid subject subjects subjectid subjectname person persons
personid personname people user username individual individualid speaker speakerid spk spkid sid pid
uid userid client clientid celebrity celebrityid realid who subj subjid patient patientid donor
donorid participant participantid"""
WEAK_IDENTITY = "label labels name names id ids class classid target targets y"
IMAGE = """image images img imgs imagename imagenames imageid imagefile imagepath imgpath filename
filenames file files filepath path paths fileid filelist key photo template templateid templateids
imglist imagelist imgpaths imagepaths
sample sampleid utterance utt utteranceid recording wav fname"""
EMBEDDING = """embedding embeddings emb embs feature features feat feats vector vectors template
templates x descriptor descriptors encoding encodings representation"""
# "": columns that are called 0, 1, ...
PREFIXES = """f feat feats feature features emb embs embedding embeddings dim d x v vec e"""

# Words within a name that say what a column is not.
DECISION = """decision decisions accept accepted reject rejected pred predicted prediction
predictions verified hypothesis output verdict result"""
NO_TRUTH = "gender sex race ethnicity"
NO_SCORE = """quality age det detection confidence conf threshold thr pose yaw pitch roll blur
sharpness landmark landmarks bbox box time gap fold liveness year iod width height size weight count
number index line row id"""
GENUINE_WORDS = "1 true yes y match mated target genuine same positive mate client intra intraclass"
IMPOSTOR_WORDS = """0 -1 false no n nonmatch nonmated nontarget impostor imposter different diff
negative mismatch nonmate inter interclass"""


def _words(text):
    return frozenset(text.split())


NAMES = {
    "score": _words(SCORE),
    "distance": _words(DISTANCE),
    "genuine": _words(GENUINE),
    "impostor": _words(IMPOSTOR),
    "identity": _words(IDENTITY),
    "image": _words(IMAGE),
    "embedding": _words(EMBEDDING),
}
WEAK = {"genuine": _words(WEAK_GENUINE), "identity": _words(WEAK_IDENTITY)}
PREFIXES = _words(PREFIXES) | {""}
DECISION = _words(DECISION)
NO_TRUTH = _words(NO_TRUTH) | DECISION
NO_SCORE = _words(NO_SCORE)
GENUINE_WORDS = _words(GENUINE_WORDS)
IMPOSTOR_WORDS = _words(IMPOSTOR_WORDS)
SIDES = (
    ("probe", "reference"),
    ("probe", "gallery"),
    ("probe", "ref"),
    ("query", "gallery"),
    ("query", "reference"),
    ("enrol", "test"),
    ("enroll", "test"),
    ("enroll", "verif"),
    ("query", "candidate"),
    ("probe", "candidate"),
    ("model", "test"),
    ("left", "right"),
    ("first", "second"),
    ("a", "b"),
    ("x", "y"),
    ("1", "2"),
)


def simplified(name):
    """Return a name in lower case, without blanks and signs: "Person_ID" is "personid"."""
    return re.sub(r"[\W_]+", "", str(name)).lower()


def words_of(name):
    """Return the words of a name in lower case: "L2 dist (arc)" is l2, dist and arc."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return {word for word in re.split(r"[\W_]+", parted.lower()) if word}


def is_known_name(name):
    """Return whether a text is the usual name of a column, also of one side."""
    bare = simplified(name)
    if any(bare in names for names in (*NAMES.values(), *WEAK.values())):
        return True
    return any(side in words_of(name) for sides in SIDES[:11] for side in sides)


def words_of_truth(column):
    """Return which cells say genuine and which say impostor, of text or numbers."""
    if column.dtype == object:
        column = column.map(str, na_action="ignore")
    codes, distinct = pd.factorize(column)  # each distinct word is read once
    text = pd.Series(distinct, dtype=object).astype(str).str.strip().str.lower()
    text = text.str.removesuffix(".0")
    bare = text.where(text == "-1", text.str.replace(r"[\W_]+", "", regex=True))
    verdicts = bare.isin(GENUINE_WORDS), bare.isin(IMPOSTOR_WORDS)
    return [np.append(verdict, False)[codes] for verdict in verdicts]  # missing: the last
