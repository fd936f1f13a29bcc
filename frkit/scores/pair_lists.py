"""Lists of pairs in the field's text protocols, whose scores stand in the line or in a second file."""

from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, require
from frkit.faces.files import named
from frkit.scores.pair_text import (
    complete,
    numbers,
    read_fields,
    read_pair_table,
    read_scores,
    refuse,
    score_lines,
    verdicts,
    whole,
)

SIDES = ("probe", "reference")
BLOCK = 300  # pairs of one kind in a row, in RFW's protocol


def read_lfw(path, scores=None) -> dict:
    """LFW's pairs.txt with a file of scores in the same order."""
    path = Path(path)
    with named(path):
        table = read_fields(path, 1, 4, "name n1 n2, or nameA n1 nameB n2, after a first line of folds and pairs")
        head = [int(cell) for cell in table.iloc[0] if cell.isdecimal()]
        first = (table.iloc[0] != "").sum()
        require(0 < len(head) == first <= 2, f"line {table.index[0]} must be the number of folds and of pairs a fold")
        folds, many = (1, *head)[-2:]
        body = table.iloc[1:]
        require(
            len(body) == 2 * folds * many,
            f"line {table.index[0]} announces {folds} fold(s) of 2 x {many} pairs, but there are {len(body)} lines",
        )
        sides = _numbered_pairs(body, many)
        images = {side: np.char.add(np.char.add(sides[f"{side}_identity"], "/"), sides[side]) for side in SIDES}
    return {"score": read_scores(scores, len(body), str(path)), **sides, **images}


def _numbered_pairs(body: pd.DataFrame, block: int) -> dict:
    """Pairs `name n1 n2` (genuine) and `nameA n1 nameB n2`, in blocks of each kind by turns."""
    short = body[3] == ""
    due = np.arange(len(body)) // block % 2 == 0
    order = f"{block} genuine pairs (3 fields) and {block} impostor pairs (4 fields) by turns"
    refuse(body.index[body[2] == ""], " has too few fields; a line is: name n1 n2, or nameA n1 nameB n2")
    refuse(body.index[short.to_numpy() != due], f" breaks the order of {order}")
    second = body[0].where(short, body[2])
    n1, n2 = whole(body[1], "image number"), whole(body[2].where(short, body[3]), "image number")
    same = body.index[(body[0] == second) & ~short]
    refuse(same, " names one person twice, but has the form of an impostor pair")
    names = [
        (name + "_" + number.astype(str).str.zfill(4) + ".jpg").to_numpy(str)
        for name, number in ((body[0], n1), (second, n2))
    ]
    people = body[0].to_numpy(str), second.to_numpy(str)
    return {
        "lines": body.index.to_numpy(),
        "genuine": short.to_numpy(),
        **dict(zip(SIDES, names, strict=True)),
        **{f"{side}_identity": own for side, own in zip(SIDES, people, strict=True)},
    }


def read_rfw(path, scores=None) -> dict:
    """RFW: a score table, one `<Race>_pairs.txt`, several, or a folder that holds them, with scores."""
    paths = [Path(one) for one in ([path] if isinstance(path, (str, Path)) else path)]
    if len(paths) == 1 and paths[0].is_dir():
        found = sorted(paths[0].rglob("*_pairs.txt"))
        require(len(found) > 0, f"{paths[0]}: there is no <Race>_pairs.txt in this folder")
        paths = found
    if len(paths) == 1 and paths[0].name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        require(scores is None, f"{paths[0]}: the score table holds its scores: leave scores= out")
        return _rfw_table(paths[0])
    parts = [_rfw_race(one) for one in paths]
    out = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if len(paths) > 1:
        out.pop("lines")
    return out | {"score": read_scores(scores, len(out["genuine"]), ", ".join(one.name for one in paths))}


def _rfw_race(path: Path) -> dict:
    """One race's protocol; image names carry the race, because 13 people stand under two races."""
    race = path.name.removesuffix(".gz").removesuffix(".txt").removesuffix("_pairs")
    with named(path):
        body = read_fields(path, 3, 4, "id n1 n2, or idA n1 idB n2")
        sides = _numbered_pairs(body, BLOCK)
        for side in SIDES:
            sides[side] = np.char.add(f"{race}/", sides[side])
    return sides | {"ethnicity": np.full(len(body), race)}


def _rfw_table(path: Path) -> dict:
    with named(path):
        table = read_pair_table(path)
        wanted = ["img_1", "img_2", "id_1", "id_2", "label", "ethnicity", "dist"]
        absent = [name for name in wanted if name not in table]
        require(not absent, f"an RFW score table has the columns {', '.join(wanted)}; absent: {listed(absent)}")
        names = {"probe": "img_1", "reference": "img_2", "probe_identity": "id_1", "reference_identity": "id_2"}
        out = {name: complete(table[own], own) for name, own in names.items()}
        out |= {"genuine": verdicts(table["label"]), "score": numbers(table["dist"], "dist")}
    return out | {"ethnicity": table["ethnicity"].to_numpy(str), "distance": True, "lines": table.index.to_numpy()}


def read_bob4(path) -> dict:
    """bob's 4 columns: claimed_id real_id probe score."""
    with named(path):
        table = read_fields(Path(path), 4, 4, "claimed_id real_id probe score")
    return _bob(table, table[0], table[0], table[1], table[2], table[3], path)


def read_bob5(path) -> dict:
    """bob's 5 columns: claimed_id model_label real_id probe score."""
    with named(path):
        table = read_fields(Path(path), 5, 5, "claimed_id model_label real_id probe score")
    return _bob(table, table[1], table[0], table[2], table[3], table[4], path)


def _bob(table, model, claimed, real, probe, score, path) -> dict:
    with named(path):
        values = numbers(score)
    return {
        "score": values,
        "probe": probe.to_numpy(str),
        "reference": np.char.add("model ", model.to_numpy(str)),
        "probe_identity": real.to_numpy(str),
        "reference_identity": claimed.to_numpy(str),
        "lines": table.index.to_numpy(),
    }


def read_voxceleb(path, scores=None, metadata=None) -> dict:
    """VoxCeleb trials `label enrol test` with a file of scores: in their order, or as `enrol test score`."""
    with named(path):
        table = read_fields(Path(path), 3, 3, "label enrol test")
        genuine = verdicts(table[0])
    return _trials(table, genuine, table[1], table[2], scores, metadata, path)


def read_kaldi(path, scores=None, metadata=None) -> dict:
    """Kaldi trials `enrol test target|nontarget` with a file of scores `enrol test score`."""
    with named(path):
        table = read_fields(Path(path), 3, 3, "enrol test target|nontarget")
        genuine = verdicts(table[2])
    return _trials(table, genuine, table[0], table[1], scores, metadata, path)


def _trials(table, genuine, enrol, test, scores, metadata, path) -> dict:
    people = [_speakers(side) for side in (test, enrol)]
    if isinstance(scores, dict):
        score = {str(name): _trial_scores(enrol, test, one, path) for name, one in scores.items()}
    else:
        score = _trial_scores(enrol, test, scores, path)
    out = {"score": score, "genuine": genuine, "lines": table.index.to_numpy()}
    out |= {"probe": test.to_numpy(str), "reference": enrol.to_numpy(str)}
    out |= {"probe_identity": people[0], "reference_identity": people[1]}
    return out if metadata is None else out | _speaker_labels(Path(metadata), people)


def _speakers(names: pd.Series) -> np.ndarray:
    """The first component of a path; without slashes what stands before the first hyphen, as Kaldi names utterances."""
    first = names.str.split("/", n=1).str[0]
    return first.where(names.str.contains("/", regex=False), names.str.split("-", n=1).str[0]).to_numpy(str)


def _trial_scores(enrol: pd.Series, test: pd.Series, scores, path) -> np.ndarray:
    """Scores in the trials' order; from a file of three columns by the names of both sides."""
    if not isinstance(scores, (str, Path)) or str(scores).endswith(".npy"):
        return read_scores(scores, len(enrol), str(path))
    with named(scores):
        table = read_fields(Path(scores), 1, 3, "enrol test score, or one score")
        width = (table != "").sum(axis=1)
        odd = table.index[(width != width.iloc[0]) | (width == 2)]
        refuse(odd, " has another number of fields; a line is: enrol test score")
        if width.iloc[0] == 1:
            return read_scores(score_lines(Path(scores)), len(enrol), str(path))
        values = pd.Series(numbers(table[2]), index=pd.MultiIndex.from_arrays([table[0], table[1]]))
        again = table.index[values.index.duplicated()]
        refuse(again, " scores a trial for a second time")
        place = values.index.get_indexer(pd.MultiIndex.from_arrays([enrol, test]))
        lost = enrol.index[place < 0]
        if len(lost):
            raise InputError(f"no score for the trial in line {lost[0]} of {path}: {enrol[lost[0]]} {test[lost[0]]}")
    return values.to_numpy()[place]


def _speaker_labels(path: Path, people: list) -> dict:
    """Gender and nationality from VoxCeleb's metadata: TAB, `VoxCeleb1 ID, VGGFace1 ID, Gender, Nationality, Set`."""
    with named(path):
        require(path.is_file(), "there is no such file")
        table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        table.columns = table.columns.str.strip()
        ids = [name for name in table if name.endswith("ID") and "VGG" not in name]
        require(
            len(ids) == 1 and "Gender" in table,
            f"must be a table between tabs with a VoxCeleb ID and Gender; the columns are {listed(table.columns)}",
        )
        table = table.set_index(table[ids[0]].str.strip())
        twice = table.index[table.index.duplicated()]
        require(len(twice) == 0, f"speaker {listed(twice[:1])} stands more than once")
    return {
        name.lower(): tuple(table[name].str.strip().reindex(side).to_numpy() for side in people)
        for name in ("Gender", "Nationality")
        if name in table
    }


def read_ijbc(path, scores=None, metadata=None) -> dict:
    """IJB-C in InsightFace's form: `tid1 tid2 label` with a file of scores; metadata may be `img tid mid`.

    The files name no people: templates that genuine pairs link, directly or by way of others, are one person.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    with named(path):
        table = read_fields(Path(path), 3, 3, "tid1 tid2 label")
        genuine = verdicts(table[2])
        sides = np.concatenate([table[0].to_numpy(str), table[1].to_numpy(str)])
        template, names = pd.factorize(sides)
        if metadata is not None:
            with named(metadata):
                known = read_fields(Path(metadata), 3, 3, "img tid mid")[1]
            lost = names[~np.isin(names, known.to_numpy(str))][:1]
            require(len(lost) == 0, f"template {listed(lost)} does not stand in {metadata}")
        left, right = template[: len(table)][genuine], template[len(table) :][genuine]
        links = coo_array((np.ones(len(left)), (left, right)), shape=(len(names), len(names)))
        person = np.char.add("person ", connected_components(links, directed=False)[1].astype(str))[template]
    who = np.split(sides, 2), np.split(person, 2)
    out = {"genuine": genuine, "lines": table.index.to_numpy(), "score": read_scores(scores, len(table), str(path))}
    out |= dict(zip(SIDES, who[0], strict=True))
    return out | {f"{side}_identity": own for side, own in zip(SIDES, who[1], strict=True)}


def read_vectors(path, scores=None) -> dict:
    """Genuine scores and impostor scores: path and scores=, or a pair of paths."""
    both = (path, scores) if scores is not None else path
    two = isinstance(both, (tuple, list)) and len(both) == 2
    require(two, "two files are needed: open_pairs((genuine, impostor), format='vectors')")
    parts = [score_lines(Path(one)) for one in both]
    genuine = np.repeat([True, False], [len(part) for part in parts])
    return {"score": np.concatenate(parts), "genuine": genuine}
