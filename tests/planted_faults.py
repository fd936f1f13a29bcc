"""Faults of one line each, planted one at a time in a copy of the package: do the tests of that part see them?

    python tests/planted_faults.py [PART or NUMBER ...]    plants each fault (of these) and runs the tests of its part

Nothing in this checkout is changed. A fault takes half a minute of work, less where it is caught early.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {  # the quick tests of each part
    "engine": ["engine", "engine_all_pairs", "influence", "engine_properties", "evaluate"],
    "measures": ["fairness_measures", "indices"],
    "intervals": [
        "intervals",
        "simultaneous",
        "fairness_intervals",
        "fairness_figures",
        "influence",
        "indices_evaluate",
    ],
    "indices": ["indices", "indices_evaluate"],
    "nsigma": ["nsigma"],
    "representation": ["decisions", "comparators", "representation", "mine_network"],
    "scores": ["pairs", "pair_table", "matrices", "own_data", "verification", "hard_to_break", "nsigma"],
    "faces": ["faces", "varying", "io", "hard_to_break"],
    "resampling": ["resampling", "twin"],
}
FAULTS = [  # part, what stands there once, what is put in its place
    ("engine", "total + tied > target[level]", "total + tied >= target[level]"),
    ("engine", "score[u] > fixed[level]", "score[u] >= fixed[level]"),
    ("engine", "w *= (w - 1.0) if row < 0", "w *= w if row < 0"),
    ("engine", "share = np.divide(before, before + after,", "share = np.divide(before, 2 * before,"),
    ("engine", "or persons[1][c] == person or cell < 0", "or cell < 0"),
    ("engine", 'searchsorted(pairs.score, thresholds, side="right', 'searchsorted(pairs.score, thresholds, side="left'),
    ("engine", "reference_sum[h] - within", "reference_sum[h]"),
    ("engine", "exceeds = np.tile(score > thresholds", "exceeds = np.tile(score >= thresholds"),
    ("measures", "mean = np.exp(np.log(rates).mean(GROUP, skipna=False))", "mean = rates.mean(GROUP)"),
    ("measures", "return apart / ((n - 1) *", "return apart / (n *"),
    ("measures", "values.std(GROUP, ddof=1", "values.std(GROUP, ddof=0"),
    ("measures", "middle = 1 / (2 * n_groups)", "middle = 1 / n_groups"),
    ("measures", "return 1 - deviation.mean(", "return 1 - deviation.median("),
    ("measures", "share * genuine + (1 - share) * impostor", "(1 - share) * genuine + share * impostor"),
    ("intervals", "values.estimate - upper, values.estimate - lower", "values.estimate + lower, upper"),
    ("intervals", "critical = height.max(along)", "critical = height.mean(along)"),
    ("intervals", "(replicates - centre) + estimate if", "(replicates - estimate) + estimate if"),
    ("intervals", "((1 + reached) / (1 + n))", "(reached / n)"),
    ("intervals", "return rates.mean([dim", "return rates.median([dim"),
    ("intervals", "influence.T @ influence - twice", "influence.T @ influence + twice"),
    ("indices", '"euclidean": lambda score: 1 / (1 - score)', '"euclidean": lambda score: 1 / (1 - 2 * score)'),
    ("indices", "fair.limit, f", 'fair["median"], f'),
    ("indices", "np.minimum((score * bins).astype(int), bins - 1)", "(score * (bins - 1)).astype(int)"),
    ("nsigma", "((of_mean - mean) / of_sd)", "((of_mean - mean) / sd)"),
    ("nsigma", 'n_absolute.values, side="right"', 'n_absolute.values, side="left"'),
    ("nsigma", "fixed.far, fixed.frr", "fixed.frr, fixed.far"),
    ("representation", ".where(train > 1 / groups.size)", ".where(train >= 0)"),
    ("representation", "wrong = rng.permuted(~correct, axis=0)", "wrong = ~correct"),
    ("representation", "radius = (1 - 1 / n_classes) / 2", "radius = 1 - 1 / n_classes"),
    ("representation", 'values["rlb"] > 2 * values["rlb_se"]', 'values["rlb"] > values["rlb_se"]'),
    ("engine", "* col_weight[np.uintp(pairs.col", "* row_weight[np.uintp(pairs.col"),
    ("engine", "accepted / all_pairs[0][:, None] >= -TOLERANCE", "accepted / all_pairs[0][:, None] >= TOLERANCE"),
    ("engine", "both = (accepts.sum(1) >= RESOLVED)", "both = (accepts.sum(1) > RESOLVED)"),
    ("engine", "far[own] * totals[column] *", "far[own] * totals[0] *"),
    ("engine", "mass = protocol.share**2 *", "mass = protocol.share *"),
    ("engine", "share[who].prod(0) / many[two]", "share[who].prod(0)"),
    ("engine", "(np.cumsum(genuine, axis=1) - genuine / 2)", "np.cumsum(genuine, axis=1)"),
    ("engine", "impostors.pairs.score[own] > thresholds[place]", "impostors.pairs.score[own] >= thresholds[place]"),
    ("measures", "return total.where(~infinite, np.inf)", "return total"),
    ("measures", "return c * far + (1 - c) * frr", "return (1 - c) * far + c * frr"),
    ("measures", "/ np.log2(z.sizes[GROUP])", "/ np.log(z.sizes[GROUP])"),
    ("intervals", "(values.centre - mean) / pair_noise", "(values.centre - mean) / 1.0"),
    ("intervals", "np.arange(p.shape[-1], 0, -1)", "np.arange(p.shape[-1] + 1, 1, -1)"),
    ("intervals", "(np.sign(values.estimate) * moved <= 0)", "(np.sign(values.estimate) * moved < 0)"),
    ("intervals", "away * (estimate - fair) - TIE", "away * (estimate - fair) + TIE"),
    ("intervals", "gap.std(REPLICATE, ddof=1", "gap.std(REPLICATE, ddof=0"),
    ("intervals", "moved.std(REPLICATE, ddof=1)", "moved.std(REPLICATE, ddof=0)"),
    ("intervals", "return values * np.sqrt(many / (many - 1))", "return values * np.sqrt((many + 1) / many)"),
    ("intervals", "p = (1 + n * as_far", "p = (n * as_far"),
    ("intervals", '"upper" if away > 0 else "lower"', '"lower" if away > 0 else "upper"'),
    ("indices", "keep = (labels[0] == labels[1]) & (", "keep = ("),
    ("indices", "keep &= scores[PROBE].values != scores[REFERENCE].values", "keep &= True"),
    ("indices", "generators[2 * g + k]", "generators[g + k]"),
    ("nsigma", "2 * subsets - 2", "2 * subsets - 1"),
    ("nsigma", "(sd**2 + of_group(sd, chosen) ** 2)", "(2 * sd**2)"),
    ("nsigma", "rates.tpr.mean([BATCH, SUBSET]).argmax(GROUP)", "rates.tpr.mean([BATCH, SUBSET]).argmin(GROUP)"),
    ("nsigma", "replace(draws, seed=group_seed(seed, group))", "replace(draws, seed=seed)"),
    ("representation", "n_people / (n_people - 1) *", "1 *"),
    ("representation", "(weight / weight.mean() - 1)", "(weight - 1)"),
    ("representation", "value.std(GROUP, ddof=1)", "value.std(GROUP, ddof=0)"),
    ("representation", "(0.5 if probabilities else 0)", "0.5"),
    ("representation", "ahead = (k + 1) % folds", "ahead = k"),
    ("representation", "(null >= corrected[0])", "(null > corrected[0])"),
    ("scores", "values = np.array(scores, float)", "values = np.asarray(scores, float)"),
    ("scores", "np.ma.getdata(scores) == mark", "np.ma.getdata(scores) <= mark"),
    ("scores", "& wanted & (probe >= 0) & (reference >= 0)", "& wanted & (probe >= 0)"),
    ("scores", "self.reference[reference]", "self.probe[reference]"),
    ("scores", "[code] for side in range(2)]", "[code] for side in (1, 0)]"),
    ("faces", "original.copy() if copy and original.dtype == np.float32 else original", "original"),
    ("faces", 'sort_values(["unknown", "rank"]', 'sort_values(["rank", "unknown"]'),
    ("faces", "np.isin(text, _MISSING_WORDS) | np.ma.getmask(values)", "np.isin(text, _MISSING_WORDS)"),
    ("faces", "(square >= limits.tiny) & (square <= limits.max)", "(square >= limits.tiny)"),
    ("resampling", "np.random.SeedSequence(self.seed).spawn(self.n)", "[self.seed + b for b in range(self.n)]"),
    ("resampling", "np.lexsort((image, code))", "np.lexsort((np.arange(n), code))"),
    ("resampling", "2 * rng.integers(0, 2, sum", "rng.integers(0, 3, sum"),
    ("resampling", "len(people), size or len(people)", "len(people), len(people)"),
]


def copied(folder: Path) -> Path:
    """The checkout without what it was not committed with."""
    for part in ("frkit", "tests", "data", "notebooks", "binder", "pyproject.toml", "README.md"):
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / part, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
    return folder


def run(folder: Path, part: str) -> tuple[bool, str]:
    """Whether the tests of a part fail, and which one."""
    files = [f"tests/test_{name}.py" for name in TESTS[part]]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *files]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = [line for line in answer.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return answer.returncode == 1, lines[0].split(" - ")[0] if lines else answer.stdout.strip().splitlines()[-1]


def plant(folder: Path, fault: tuple[str, str, str]) -> str:
    """Plant one fault, run the tests of its part, take it out again; what became of it."""
    part, before, after = fault
    files = [*(folder / "frkit").glob(f"{part}.py"), *(folder / "frkit" / part).glob("*.py")]
    sources = {path: path.read_text(encoding="utf-8") for path in files}
    places = [path for path, source in sources.items() for _ in range(source.count(before))]
    if len(places) != 1:
        return f"not there ({len(places)} times)"
    [path] = places
    source = sources[path]
    path.write_text(source.replace(before, after), encoding="utf-8")
    began = time.monotonic()
    try:
        failed, words = run(folder, part)
    finally:
        path.write_text(source, encoding="utf-8")
    return f"{'caught' if failed else 'MISSED'} in {time.monotonic() - began:.0f} s by {words}"


def main(chosen: list[str]) -> None:
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for number, fault in enumerate(FAULTS, 1):
            if not chosen or {fault[0], str(number)} & set(chosen):
                found = plant(copy, fault)
                counts[found.split()[0]] = counts.get(found.split()[0], 0) + 1
                print(f"{number:2d} {fault[0]}: {fault[2]!r} {found}", flush=True)
    print(counts)
    sys.exit(0 if counts.keys() <= {"caught"} else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
