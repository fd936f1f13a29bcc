"""One small data set in the forms in which people have it, and its rates in plain NumPy."""

import json

import numpy as np
import pandas as pd

import frkit as fk

FAR = 0.1


def pooled_frr(score, genuine, far=FAR):
    """FRR at the smallest impostor score of which at most `far` are accepted: accept is above."""
    impostor = np.sort(score[~genuine])[::-1]
    threshold = impostor[int(np.floor(far * len(impostor) + 1e-9))]
    return float((score[genuine] <= threshold).mean())


def opened(path, **options):
    """Open data with the first answer to each question that frkit asks."""
    while True:
        try:
            return fk.open_data(path, **options)
        except fk.InputError as error:
            if not error.answers or "'...'" in repr(error.answers[0]):
                raise
            options |= error.answers[0]


def images(people=60, seed=7):
    """Unit embeddings, and labels: groups with blanks in single images, ages that vary."""
    rng = np.random.default_rng(seed)
    vectors, rows = [], []
    for person in range(people):
        centre = rng.normal(size=24)
        centre /= np.linalg.norm(centre)
        for k in range(rng.integers(1, 8)):
            vector = centre + 0.2 * rng.normal(size=24)
            vectors.append(vector / np.linalg.norm(vector))
            name = f"S{person:03d}"
            group = None if k == 1 and person % 5 == 0 else "ABC"[person % 3]
            age = int(rng.integers(18, 80))
            rows.append(
                {"subject": name, "image": f"{name}_{k:02d}.jpg", "ethn": group, "age": age}
            )
    return np.array(vectors).astype(np.float32), pd.DataFrame(rows)


VECTORS, LABELS = images()
WIDE = pd.concat([LABELS, pd.DataFrame(VECTORS).add_prefix("f")], axis=1)
FIRST, SECOND = np.triu_indices(len(LABELS), 1)
SUBJECT = LABELS.subject.to_numpy(str)
COSINES = VECTORS.astype(float) @ VECTORS.T.astype(float)
OF_FACES = pooled_frr(COSINES[FIRST, SECOND], SUBJECT[FIRST] == SUBJECT[SECOND])
NAMES_OF_FEW = LABELS.image.to_numpy(str)[:80]
MATRIX = pd.DataFrame(COSINES[:80, :80].round(6), NAMES_OF_FEW, NAMES_OF_FEW)
UPPER = np.triu_indices(80, 1)
OF_FEW = pooled_frr(MATRIX.values[UPPER], SUBJECT[UPPER[0]] == SUBJECT[UPPER[1]])


def chosen_pairs(seed=1):
    """All genuine pairs and some impostors, in random order, with scores of six decimals."""
    rng = np.random.default_rng(seed)
    same = SUBJECT[FIRST] == SUBJECT[SECOND]
    others = rng.choice(np.flatnonzero(~same), 2000, replace=False)
    chosen = rng.permutation(np.r_[np.flatnonzero(same), others])
    sides = {"1": LABELS.iloc[FIRST[chosen]], "2": LABELS.iloc[SECOND[chosen]]}
    table = pd.DataFrame({"same": same[chosen]})
    table["cosine"] = COSINES[FIRST, SECOND][chosen].round(6)
    table["distance"] = np.sqrt(2 - 2 * table.cosine).round(6)
    for side, labels in sides.items():
        for name in ("subject", "image", "ethn"):
            table[f"{name}{side}"] = labels[name].to_numpy()
    return table


PAIRS = chosen_pairs()
SAME = PAIRS.same.to_numpy()
OF_PAIRS = pooled_frr(PAIRS.cosine.to_numpy(), SAME)
WORDS = np.where(SAME, "yes", "no")
MILLIONTHS = (1e6 * PAIRS.cosine).round().astype(int)
KINDS_OF_PAIRS = np.where(SAME, "intra", "inter")


def renamed(**names):
    """Columns of the pairs under other names."""
    return pd.DataFrame({name: PAIRS[source] for name, source in names.items()})


def lines(*columns, mark=" "):
    """Lines of cells without a header."""
    return "".join(mark.join(map(str, row)) + "\n" for row in zip(*columns))


def in_folders(side):
    return PAIRS[f"subject{side}"] + "/" + PAIRS[f"image{side}"]


ODD = renamed(**{"Probe File": "image1", "Gallery File": "image2", "PersonID_1": "subject1"})
ODD = ODD.assign(**{"PersonID_2": PAIRS.subject2, "ethn_1": PAIRS.ethn1, "ethn_2": PAIRS.ethn2})
ODD = ODD.assign(**{"L2 dist (arc)": PAIRS.distance, "mated?": WORDS})
TRUTH = renamed(a="image1", b="image2", truth="same", score="cosine").astype({"truth": int})
TURNED = renamed(id1="subject1", id2="subject2", cosine="cosine", l2="distance")
NUMBERS = SAME.astype(int)


def write_text(content):
    return lambda path: path.write_text(content, encoding="utf-8")


def write_csv(table, **how):
    return lambda path: table.to_csv(path, **{"index": False} | how)


def write_npz(path):
    labels = {"identity": SUBJECT, "ethn": LABELS.ethn.fillna("").to_numpy(str)}
    np.savez(path, embedding=VECTORS, **labels)


def write_mat(path):
    from scipy.io import savemat

    savemat(path, {"feat": VECTORS, "label": np.array([int(name[1:]) for name in SUBJECT])})


def write_npy(path):
    np.save(path, VECTORS)
    LABELS.to_csv(path.with_suffix(".csv"), index=False)


def write_matrix(path):
    MATRIX.rename_axis("image").rename_axis("other", axis=1).to_csv(path)


def write_matrix_and_names(path):
    np.save(path, COSINES.round(6))
    LABELS.image.to_csv(path.with_suffix(".txt"), index=False, header=False)


def write_trials(path):
    """Kaldi's trials and scores: a model of a person meets an utterance once."""
    trials = pd.DataFrame({"model": PAIRS.subject1, "test": PAIRS.image2.str[:-4]})
    trials["kind"] = np.where(SAME, "target", "nontarget")
    trials["score"] = PAIRS.cosine
    trials = trials[~trials.duplicated(["model", "test"])]
    options = {"sep": " ", "header": False, "index": False}
    trials.drop(columns="score").to_csv(path, **options)
    trials.drop(columns="kind")[::-1].to_csv(path.with_name("scores"), **options)
    return pooled_frr(trials.score.to_numpy(), trials.kind.to_numpy() == "target")


def write_cells(path):
    from scipy.io import savemat

    savemat(path, {"features": VECTORS, "subject_id": SUBJECT.astype(object)})


def write_image_list(path):
    names = SUBJECT + "/" + LABELS.image.to_numpy(str)
    np.savez(path, feats=VECTORS, img_list=names)


IMAGES = (PAIRS.image1, PAIRS.image2)
PEOPLE = (PAIRS.subject1, PAIRS.subject2)
CAMEL = renamed(ProbeID="subject1", GalleryID="subject2", MatchScore="cosine", IsMated="same")
ENROLLED = renamed(enroll_id="subject1", verif_id="subject2", similarity_score="cosine")
PLAIN = renamed(personA="subject1", personB="subject2", score="cosine")
SOURCES = renamed(source="subject1", target="subject2", score="cosine")
TESTED = renamed(enrollment="image1", test="image2", score="cosine", label="same")
CELLS = LABELS.assign(embedding=[json.dumps(row.tolist()) for row in VECTORS])
KIND = pd.DataFrame({"Comparison Score": PAIRS.cosine})
KIND["Mated/Non-mated"] = np.where(SAME, "Mated", "Non-mated")
USERS = renamed(user1="subject1", user2="subject2", match_score="cosine", is_same_label="same")
CLASSES = pd.concat([LABELS.subject.rename("class"), pd.DataFrame(VECTORS)], axis=1)
ARRAYS = LABELS.assign(vec=[" ".join(["[", *map(str, row), "]"]) for row in VECTORS])
UNNAMED = MATRIX.rename_axis("Unnamed: 0").reset_index()
JSON = [
    {"probe": first, "gallery": second, "score": score, "mated": bool(same)}
    for first, second, score, same in zip(*IMAGES, PAIRS.cosine, SAME)
]
COMMENTED = "# a system\n# and its date\n" + TESTED.to_csv(sep="\t", index=False)
PRINTED = LABELS.drop(columns="ethn").assign(embedding=list(VECTORS.astype(float).round(6)))
PRINTED = PRINTED[["subject", "embedding", "image", "age"]]  # which extends over several lines
OBJECTS = [
    {"file": image, "person": subject, "det_score": 0.9, "embedding": row.tolist(), "model": "A"}
    for image, subject, row in zip(LABELS.image, LABELS.subject, VECTORS)
]
NAMED = [{"name": image, "emb": row.tolist()} for image, row in zip(LABELS.image, VECTORS)]
SCORED = renamed(candidate_id="image1", probe_id="image2", match_score="cosine", is_mated="same")
TITLED = "# columns: probe,candidate,score\nprobe_id,candidate_id,score\n"
TITLED += lines(*PEOPLE, PAIRS.cosine, mark=",")
IRIS = pd.DataFrame({"hd": (1 - PAIRS.cosine) / 2})
for side in ("1", "2"):  # the first left eye, S001L01.jpg
    IRIS["file" + side] = PAIRS["image" + side].str.replace("_", "L")
FORMS = {  # name of a file: how it is written (which may return its FRR), and its FRR
    "arc.npz": (write_npz, OF_FACES),
    "wide.csv": (write_csv(WIDE), OF_FACES),
    "wide_tabs.txt": (write_csv(WIDE, sep="\t"), OF_FACES),
    "no_header.csv": (
        write_csv(WIDE.drop(columns=["image", "ethn", "age"]), header=False),
        OF_FACES,
    ),
    "json_cells.csv": (write_csv(CELLS), OF_FACES),
    "arc.npy": (write_npy, OF_FACES),
    "faces.mat": (write_mat, OF_FACES),
    "named_index.csv": (write_matrix, OF_FEW),
    "sim.npy": (write_matrix_and_names, OF_FACES),
    "odd_names.csv": (write_csv(ODD), OF_PAIRS),
    "two_directions.csv": (write_csv(TURNED), OF_PAIRS),
    "truth.csv": (write_csv(TRUTH), OF_PAIRS),
    "with_index.csv": (write_csv(SOURCES, index=True), OF_PAIRS),
    "camel.csv": (write_csv(CAMEL), OF_PAIRS),
    "enrolled.csv": (write_csv(ENROLLED), OF_PAIRS),
    "semicolons.csv": (write_csv(PLAIN, sep=";", decimal=","), OF_PAIRS),
    "blanks.txt": (write_csv(PLAIN, sep=" "), OF_PAIRS),
    "pairs.json": (write_text(json.dumps(JSON)), OF_PAIRS),
    "pairs.jsonl": (write_text("\n".join(map(json.dumps, JSON))), OF_PAIRS),
    "speechbrain.txt": (
        write_text(lines(in_folders("1"), in_folders("2"), NUMBERS, PAIRS.cosine)),
        OF_PAIRS,
    ),
    "label_last.txt": (
        write_text(lines(*IMAGES, PAIRS.cosine, KINDS_OF_PAIRS, mark="\t")),
        OF_PAIRS,
    ),
    "bozorth3.txt": (write_text(lines(MILLIONTHS, *IMAGES)), OF_PAIRS),
    "label_first.txt": (write_text(lines(NUMBERS, *IMAGES, PAIRS.cosine)), OF_PAIRS),
    "score_label": (write_text(lines(PAIRS.cosine, NUMBERS)), OF_PAIRS),
    "kaldi_trials": (write_trials, None),
    "words.csv": (write_csv(KIND), OF_PAIRS),
    "users.csv": (write_csv(USERS), OF_PAIRS),
    "numbers_as_names.csv": (write_csv(CLASSES), OF_FACES),
    "numpy_cells.csv": (write_csv(ARRAYS), OF_FACES),
    "unnamed_corner.csv": (write_csv(UNNAMED), OF_FEW),
    "commented.tsv": (write_text(COMMENTED), OF_PAIRS),
    "unicode_text.txt": (write_csv(PLAIN, sep="\t", encoding="utf-16"), OF_PAIRS),
    "printed_arrays.csv": (write_csv(PRINTED), OF_FACES),
    "bars.csv": (write_csv(SCORED, sep="|"), OF_PAIRS),
    "cells.mat": (write_cells, OF_FACES),
    "image_list.npz": (write_image_list, OF_FACES),
    "comment_above_header.csv": (write_text(TITLED), OF_PAIRS),
    "iris.tsv": (write_csv(IRIS, sep="\t"), OF_PAIRS),
    "subjid.csv": (write_csv(WIDE.rename(columns={"subject": "SubjID"})), OF_FACES),
    "embeddings.json": (write_text(json.dumps(OBJECTS)), OF_FACES),
    "named.json": (write_text(json.dumps(NAMED)), OF_FACES),
}
