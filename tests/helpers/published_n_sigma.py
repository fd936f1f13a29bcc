"""Tables I and II as printed by DeAlcala et al. (2023)."""

import numpy as np
import xarray as xr

GROUPS = ("African", "Asian", "Caucasian", "Indian")
EER = [[1.83, 1.58, 1.69, 2.07], [1.98, 1.88, 2.04, 2.31], [2.26, 1.72, 1.95, 2.51], [2.15, 1.82,
1.95, 2.33],
       [2.19, 1.88, 2.07, 2.22]]  # fmt: skip
TPR = [[78.8, 78.1, 82.1, 79.1], [78.3, 74.4, 78.4, 74.3], [73.4, 76.6, 76.7, 72.3], [74.6, 73.7,
79.3, 73.3],
       [73.6, 72.7, 77.1, 76.7]]  # fmt: skip
SIGMA = [0.196, 0.206, 0.205, 0.210, 0.207]
P_VALUE = [[1.00e-09, 1, 0.16, 4.94e-23], [0.12, 1, 1.00e-03, 2.81e-16], [8.96e-31, 1, 1.62e-07,
5.41e-51],
           [1.44e-14, 1, 6.0e-03, 1.70e-24], [5.16e-18, 1, 2.0e-04, 3.60e-27]]  # fmt: skip
EOP = [[0.967, 0.961, 1, 0.970], [0.998, 0.959, 1, 0.959], [0.966, 0.999, 1, 0.955], [0.952, 0.943,
1, 0.938],
       [0.964, 0.954, 1, 0.995]]  # fmt: skip
SP = [[0.997, 1, 0.998, 0.995], [0.998, 1, 0.998, 0.995], [0.994, 1, 0.997, 0.992], [0.996, 1,
0.998, 0.994],
      [0.996, 1, 0.998, 0.996]]  # fmt: skip
N = [[1.30, 0, 0.58, 2.53], [0.52, 0, 0.81, 2.10], [2.64, 0, 1.16, 3.89], [1.58, 0, 0.59, 2.32],
     [1.56, 0, 0.94, 1.62]]  # fmt: skip


def published() -> xr.Dataset:
    """Both tables over finetuned ("all", or the group that a model was tuned for) and group, as
    fractions.

    `eer_sd`, over finetuned, is the printed σ of the reference group, Asian (for EOP: Caucasian).
    """
    tables = {
        "eer_mean": np.array(EER) / 100,
        "tpr_mean": np.array(TPR) / 100,
        "p_value": P_VALUE,
        "eop": EOP,
    }
    tables |= {"sp": SP, "n_absolute": N}
    variables = {
        name: (("finetuned", "group"), np.asarray(values, float)) for name, values in tables.items()
    }
    variables["eer_sd"] = ("finetuned", np.array(SIGMA) / 100)
    return xr.Dataset(variables, coords={"finetuned": ["all", *GROUPS], "group": list(GROUPS)})
