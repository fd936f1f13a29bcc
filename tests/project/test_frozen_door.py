"""What comes out of the files of people whom frkit misread once: rates, or the question asked.

The files are made by scripts beside the real data (CONTRIBUTING); tests/project/frozen_door.json
has what each call gave. `python tests/project/test_frozen_door.py` writes it anew.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

sys.path.append(str(Path(__file__).parents[1] / "helpers"))
from paths import REAL_DATA

import frkit as fk

FROZEN = Path(__file__).with_name("frozen_door.json")
SCRIPTS = REAL_DATA.parent / "cases"
PATTERN = "{name}_{number}.jpg"
CALLS = {  # beside each file alone
    "labelled array": ("cases/arc.npy", {"labels": "cases/meta.csv"}),
    "two models": (["cases/arc.npz", "cases/face.npz"], {}),
    "faces with labels": ("cases/faces.mat", {"identity": "label"}),
    "trials": ("cases/kaldi_trials", {"scores": "cases/kaldi_scores"}),
    "trials of equal names": ("cases/twice_trials.txt", {"scores": "cases/twice.txt"}),
    "matrix of names": ("cases/matrix_named_index.csv", {"identity": PATTERN}),
    "named columns": (
        "cases/pairs_odd_names.csv",
        {"columns": {"distance": "L2 dist (arc)", "genuine": "mated?"}},
    ),
    "wide matrix": ("faults/pivot.csv", {"identity": PATTERN}),
    "square of images": ("faults/square_images.npz", {"identity": PATTERN}),
    "labelled square": ("faults/square.npy", {"labels": "faults/square.csv"}),
    "sessions": ("faults/session.txt", {"identity": "{name}_{session}_{shot}.ppm"}),
    "self-comparisons": ("faults/self_trials.txt", {"scores": "faults/self_scores.txt"}),
    "two kinds": (["faults/fvc_genuine.txt", "faults/fvc_impostor.txt"], {}),
    "labels of a list": ("faults/rare.csv", {"labels": "faults/rare_labels.csv"}),
}


def outcome(path, options):
    """Rates of the data and how many images and people they have, or what frkit asks for."""
    try:
        with warnings.catch_warnings(action="ignore", category=fk.DataWarning):
            data = fk.open_data(path, **options)
            if isinstance(data, xr.Dataset) and "embedding" in data:
                data = fk.score_tensor(data)
            rates = fk.evaluate(data, far=[0.01, 0.1])["empirical"]
    except fk.InputError as error:
        return {"asks": [sorted(answer) for answer in getattr(error, "answers", [])]}
    read = {"frr": rates.frr.values, "threshold": rates.threshold.values}
    return {name: np.round(values, 9).tolist() for name, values in read.items()}


def outcomes(folder):
    """Everything that comes out, by call."""
    for name in ("cases", "faults"):
        command = [sys.executable, SCRIPTS / f"make_{name}.py", folder / name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    files = sorted(path for name in ("cases", "faults") for path in (folder / name).iterdir())
    alone = {path.relative_to(folder).as_posix(): (path, {}) for path in files}
    found = {}
    for name, (path, options) in (alone | CALLS).items():
        paths = [str(folder / each) for each in path] if isinstance(path, list) else folder / path
        options = {
            option: str(folder / value) if option in ("labels", "scores") else value
            for option, value in options.items()
        }
        found[name] = outcome(paths, options)
    return found


@pytest.mark.slow
def test_the_door_gives_what_it_gave(tmp_path):
    if not SCRIPTS.exists():
        pytest.skip("the scripts that make the files are not there (FRKIT_REAL_DATA)")
    found = outcomes(tmp_path)
    frozen = json.loads(FROZEN.read_text())
    assert found.keys() == frozen.keys()
    for name, expected in frozen.items():
        assert found[name].keys() == expected.keys(), name
        for part, values in expected.items():
            is_equal = values == found[name][part]
            assert is_equal or part != "asks" and np.allclose(values, found[name][part]), name


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        FROZEN.write_text(json.dumps(outcomes(Path(folder)), indent=1) + "\n")
