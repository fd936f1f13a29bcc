"""Any result as tidy rows: tables, report.json, `frkit check` and figures read these."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import listed, require

ENDS = ("estimate", "lower", "upper")
MEASURE = "measure"
CONTRAST = "contrast"
WORTH = "n_effective"
LIMIT = "fair_model_up_to"
ROWS = [MEASURE, "model", "far", "threshold", CONTRAST, "attribute", "group", "with_group"]
NAMES = {  # dim or variable of a result -> column of its tidy rows
    "far_level": "far",
    "threshold_level": "threshold",
    "reference_group": "with_group",
    "limit": LIMIT,
}
OF_AN_INDEX = {  # behind the name of SFI, CFI or DFI -> column of its tidy rows
    "": "estimate",
    "_lower": "lower",
    "_upper": "upper",
    "_floor_limit": LIMIT,
    "_p": "p_random_groups",
}
NUMBERS = [*ENDS, "risk", "resolved", WORTH, LIMIT, "p", "p_random_groups", "p_holm"]
N_NAMES = {"n_signed": "N", "n_absolute": "|N|"}
P_NAMES = {"band": "p_fair", "fair_floor": "p_floor"}  # kind of a result -> its p
OF_ONE_MEASURE = ("band", "compare", "fair_floor", "rates", "uncertainty")


def rows_of(result):
    """Any result as tidy rows: the names of each place, ROWS ("" without one), and its numbers."""
    attrs = getattr(result, "attrs", {})
    kind = attrs.get("kind")
    if kind == "fairness_indices":
        return pd.concat([_rows(*index) for index in _indices(result)])
    if kind == "n_sigma":
        name = "n_signed" if "n_signed" in result else "n_absolute"
        return _rows(result.rename({name: "estimate"}), N_NAMES[name])
    if kind == "representation_bias":
        return _rows(_with_ends(result.rename(rlb="estimate")), "RLB")
    require(
        kind in OF_ONE_MEASURE,
        "a table takes what band, compare, fair_floor, uncertainty, fairness_indices, n_sigma or "
        f"representation_bias returned, got {kind or type(result).__name__}",
    )
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name="estimate").assign_attrs(attrs)
    name = attrs[MEASURE]
    if "a" in attrs:
        name = f"{name}, {_contrast(result, attrs['a'], attrs['b'])}"
    return _rows(result, name)


def _contrast(result, a, b):
    """Name two models or groups that are compared."""
    return f"{a} / {b}" if result.attrs[CONTRAST] == "ratio" else f"{a} − {b}"


def _indices(result):
    """SFI, CFI and DFI in their variants, each as a separate measure."""
    for name in ("sfi", "cfi", "dfi"):
        columns = {f"{name}{ending}": column for ending, column in OF_AN_INDEX.items()}
        columns = {each: columns[each] for each in columns if each in result}
        index = result[[*columns]].rename(columns)
        if "upper" in index:
            index["upper"] = index.upper.clip(max=1)  # the index of a fair system
        for variant in result["variant"].values:
            yield index.sel(variant=variant), f"{name.upper()} {variant}"


def _with_ends(result):
    """Add 1.96 standard errors to RLB; what is not detected may be as large as what could be."""
    reach = 1.96 * result.rlb_se
    upper = result.estimate + reach
    if "smallest_detectable" in result:  # the standard error of a network without effect is 0
        largest = np.maximum(upper, result.smallest_detectable)
        upper = upper.where(result.verdict == "detected", largest)
    return result.assign(lower=result.estimate - reach, upper=upper)


def _rows(result, measure):
    """A row for each place of a result."""
    result = result.rename({name: NAMES[name] for name in NAMES if name in result.variables})
    dims = result["estimate"].dims
    extra = sorted({*dims} - {*ROWS})
    require(not extra, f"tables and figures have no rows for {listed(extra)}: select one with .sel")
    if CONTRAST in dims and "a" in result.coords:
        pairs = zip(result.a.values, result.b.values)
        labels = [_contrast(result, a, b) for a, b in pairs]
        result = result.assign_coords({CONTRAST: labels})
    numbers = [name for name in NUMBERS if name in result]
    row = "row"  # the only dim where there is a single place
    variables = result[numbers].reset_coords(drop=True).expand_dims(row)
    frame = variables.to_dataframe(dim_order=[row, *dims]).reset_index()
    if MEASURE not in dims:
        frame[MEASURE] = measure
    frame = frame.reindex(columns=[*ROWS, *numbers]).astype(dict.fromkeys(ROWS, object))
    frame[ROWS] = frame[ROWS].where(frame[ROWS].notna(), "")
    return frame.infer_objects().rename(columns={"p": P_NAMES.get(result.attrs["kind"], "p")})
