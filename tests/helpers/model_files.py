"""Files of two models: embeddings of the same images, and a table of pairs."""

import numpy as np
import pandas as pd

import frkit as fk


def people(n=30, per_identity=5, seed=0):
    kinds = {"a": {"kappa": 20}, "b": {"kappa": 9}}
    return fk.vmf.mixture(n, 8, seed=0, groups=kinds).sample(per_identity, seed=seed)


def store(path, faces):
    columns = {"identity": faces.identity.values, "gender": faces.group.values}
    np.savez(path, embedding=faces.embedding.values, **columns)
    return str(path)


def two_files(folder):
    names = {"one": 1, "two": 2}
    return [store(folder / f"{name}.npz", people(seed=seed)) for name, seed in names.items()]


def store_pairs(folder):
    """A table of pairs with the scores of two models, the second worse; "score" are the first's."""
    rng = np.random.default_rng(0)
    who = rng.integers(0, 30, (2, 3000)).astype(str)
    who[1, :1500] = who[0, :1500]
    frame = pd.DataFrame({"id1": who[0], "id2": who[1]})
    frame["arc face"] = rng.normal(size=3000) + 3 * (who[0] == who[1])
    frame["cos face"] = rng.normal(size=3000) + 2 * (who[0] == who[1])
    frame["score"] = frame["arc face"]
    frame.to_csv(folder / "pairs.csv", index=False)
    return folder / "pairs.csv"
