"""The slow twin of the test of equal groups: labels of people, permuted at random."""

import numpy as np
import xarray as xr

import frkit as fk


def p_of_permutations(faces, measure, *, far, n, seed=0):
    """How often a disparity of FRR by gender is as large where genders are dealt to people.

    measure : whose fair value is below all others. The threshold is that of the data, so that the
    FRR of each person stays; that of a group is their mean.
    """
    who = fk.errors_by_person(fk.score_tensor(faces), far=[far], by="gender").isel(far_level=0)
    frr_of_person, gender = who.frr_identity.values, who.group.values
    genders = np.unique(gender)
    rng = np.random.default_rng(seed)
    values = []
    for number in range(1 + n):
        dealt = gender if number == 0 else rng.permutation(gender)
        rates = [frr_of_person[dealt == one].mean() for one in genders]
        table = xr.Dataset({"frr_group": ("group", rates)}, {"group": genders})
        values.append(fk.measures.measure(measure)(table).item())
    return np.mean(np.array(values) >= values[0] - 1e-12)
