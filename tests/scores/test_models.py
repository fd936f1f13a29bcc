"""Models in several files: joined by names of images, never by position."""

import numpy as np
import pandas as pd
from refusals import noticed, refused

import frkit as fk
from frkit.io.door import together

PEOPLE = np.repeat([f"person{k:02d}" for k in range(12)], 3)
NAMES = np.array([f"{who}_{k % 3:04d}.jpg" for k, who in enumerate(PEOPLE)])
ORDER = np.random.default_rng(7).permutation(len(NAMES))


def cosines(seed):
    rng = np.random.default_rng(seed)
    values = np.repeat(rng.normal(size=(12, 8)), 3, axis=0) + 0.6 * rng.normal(size=(36, 8))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values @ values.T


def table(seed):
    first, second = np.triu_indices(len(NAMES), 1)
    return pd.DataFrame(
        {
            "probe": NAMES[first],
            "reference": NAMES[second],
            "genuine": PEOPLE[first] == PEOPLE[second],
            "score": cosines(seed)[first, second],
        }
    )


def frr(scores):
    """Of each model, at a FAR of 10 %."""
    return fk.evaluate(scores, far=[0.1], weighting="pair")["empirical"].frr.values.ravel()


def test_lists_in_another_order_are_joined_by_names():
    a, b = table(0), table(1)
    shuffled = b.sample(frac=1, random_state=3)
    both = together({"a": fk.open_data(a), "b": fk.open_data(shuffled)})
    np.testing.assert_array_equal(both["pairs"].score.values, [a.score, b.score])
    assert both.model.values.tolist() == ["a", "b"]
    np.testing.assert_allclose(frr(both), [frr(fk.open_data(a))[0], frr(fk.open_data(b))[0]])


def test_matrices_in_another_order_are_joined_by_names(tmp_path):
    pd.DataFrame(cosines(0), NAMES, NAMES).to_csv(tmp_path / "a.csv")
    second = pd.DataFrame(cosines(1), NAMES, NAMES)
    second.iloc[ORDER, ORDER].to_csv(tmp_path / "b.csv")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    both = fk.open_data(paths, identity="{name}_{number}.jpg")
    np.testing.assert_allclose(both.values, [cosines(0), cosines(1)])
    assert both.attrs["symmetric"] == 1


def test_a_matrix_that_is_not_symmetric_counts_both_orders_beside_one_that_is():
    values = cosines(1) + 0.1 * np.random.default_rng(2).normal(size=(36, 36))
    sides = dict(probe=NAMES, reference=NAMES)
    a = fk.score_matrix(cosines(0), PEOPLE, PEOPLE, **sides)
    b = fk.score_matrix(values, PEOPLE, PEOPLE, **sides)
    np.testing.assert_allclose(frr(together({"a": a, "b": b}))[1], frr(b)[0])


def test_images_that_one_model_lacks_are_counted():
    lists = {"a": fk.open_data(table(0)[:-3]), "b": fk.open_data(table(1)[2:])}
    with refused(2, "a", 3, "b"):
        together(lists)
    sides = dict(probe=NAMES, reference=NAMES)
    matrix = fk.score_matrix(cosines(0), PEOPLE, PEOPLE, **sides)
    with refused("probes", 1, "a"):
        together({"a": matrix, "b": matrix[1:]})
    faces = fk.faces(cosines(0)[:, :20], PEOPLE, image=NAMES)
    fewer = fk.faces(cosines(1)[:-2, :20], PEOPLE[:-2], image=NAMES[:-2])
    with refused("images", 2, "a", 0, "b"):
        fk.open_data({"a": faces, "b": fewer})


def test_lists_without_names_are_not_joined_by_position_in_silence():
    bare = table(0)[["genuine", "score"]]
    ordered, shuffled = fk.open_data(bare), fk.open_data(bare.sample(frac=1, random_state=0))
    with noticed("line", "pair"):
        together({"a": ordered, "b": ordered})
    with refused("names of images"):
        together({"a": ordered, "b": shuffled})


def test_a_blank_label_is_taken_from_another_model_and_a_contradiction_refused():
    sex = np.repeat(["f", "m"], 18).astype(object)
    with_blanks = np.where(np.arange(36) < 3, None, sex)
    models = {
        "a": fk.faces(cosines(0)[:, :20], PEOPLE, image=NAMES, sex=with_blanks),
        "b": fk.faces(cosines(1)[:, :20], PEOPLE, image=NAMES, sex=sex),
    }
    assert fk.open_data(models).sex.values.tolist() == sex.tolist()
    models["b"] = fk.faces(cosines(1)[:, :20], PEOPLE, image=NAMES, sex=sex[::-1])
    with refused("sex", "33 of 36"):
        fk.open_data(models)


def test_kept_pairs_of_models_that_were_swept_apart_are_refused():
    kept = fk.sweep(fk.score_matrix(cosines(0), PEOPLE, PEOPLE, probe=NAMES, reference=NAMES))
    with refused("fk.sweep"):
        together({"a": kept, "b": kept})
