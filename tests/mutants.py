"""Do the tests notice a wrong formula? Run them against wrong ones, one at a time.

python tests/mutants.py [WORD ...]     all mutants, or those whose file contains a word

Each mutant changes one formula in a copy of the project. Prints "killed" where a quick test of its
files fails, and "SURVIVES" where none does: then a test is missing. Takes about half a minute each.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("frkit", "tests", "binder", "data", "pyproject.toml")
QUICK = "not slow and not notebooks and not browser"


@dataclass
class Mutant:
    """A formula, what replaces it, and the files of tests that should notice."""

    file: str
    formula: str
    wrong: str
    tests: str


ENGINE = "test_engine test_twin"
INDICES = "test_indices test_distributions"
POOLED = "test_pooled"
AGREEMENT = "test_agreement"
VARIANCE = "test_variance"
N_SIGMA = "test_nsigma"
DISPARITY = "test_fairness_measures"
PLANS = "test_sample_size"
RLB = "test_representation test_mine_network test_decisions"
VMF = "test_vmf test_vmf_population"
MUTANTS = [
    # engine
    Mutant("engine/rates.py", "1 - 1 / pairs.stands_for", "1 / pairs.stands_for", "test_sweep"),
    Mutant("engine/rates.py", "in_order / 2", "in_order / 2.001", ENGINE),
    Mutant(
        "engine/rates.py",
        '(rising, thresholds), "right")',
        "(rising, thresholds))",
        "test_properties",
    ),
    Mutant("engine/kernels.py", "so_far = accepted[mark]", "so_far = 0.0", "test_engine test_twin"),
    Mutant("engine/rates.py", "so_far + added[place]", "added[place]", "test_engine test_twin"),
    Mutant("engine/kernels.py", "(far - frr) / rise", "0.5", ENGINE),
    Mutant("engine/people.py", "2 * before", "before", "test_people"),
    Mutant(
        "engine/people.py",
        "(2 * before + weight)",
        "(2 * before + weight / impostors.stands_for)",
        "test_sweep",
    ),
    Mutant("engine/protocol.py", "1 - 1 / n_images[first]", "1 + 1 / n_images[first]", ENGINE),
    Mutant("engine/protocol.py", "self.share[identity] ** 2", "self.share[identity]", ENGINE),
    # indices
    Mutant("measures/sfi_cfi_dfi.py", 'np.log2(z.sizes["group"])', "1.0", INDICES),
    Mutant("measures/sfi_cfi_dfi.py", "2 * sigma**2", "sigma**2", INDICES),
    Mutant("measures/sfi_cfi_dfi.py", "(genuine + impostor) / 2", "genuine", INDICES),
    Mutant(
        "measures/sfi_cfi_dfi.py", "sigma = 1 / (2 * n_groups)", "sigma = 1 / n_groups", INDICES
    ),
    # intervals: what people add
    Mutant("intervals/contributions.py", "- squares + sum_of_pair * added", "- squares", VARIANCE),
    Mutant("intervals/contributions.py", "& ~people.errors_are_shares", "", VARIANCE),
    Mutant("intervals/contributions.py", "2 * sd_of_log", "sd_of_log", VARIANCE),
    Mutant("intervals/contributions.py", ', contribution["least"])', ", 0)", VARIANCE),
    Mutant("intervals/contributions.py", '["unseen"] = 1  #', '["unseen"] = 2  #', VARIANCE),
    Mutant(
        "intervals/contributions.py",
        "units = n_people\n    else",
        'units = _number_of_pairs(people, "people_pairs", g, h)\n    else',
        VARIANCE,
    ),
    Mutant("intervals/compare.py", "2.0 ** (1 - pair.differing)", "0", VARIANCE),
    Mutant("intervals/compare.py", "- 2 * np.sign(a.noise) * common_noise", "", VARIANCE),
    Mutant("intervals/bands.py", "(estimate * n + 0.5) / (n + 1)", "estimate", VARIANCE),
    Mutant("intervals/effective.py", "curve_far, n_effective", "curve_far, added.most", VARIANCE),
    Mutant("intervals/effective.py", "np.minimum(lower, rate)", "lower", "test_effective"),
    # intervals: groups
    Mutant("intervals/pooled.py", "5 * sd_of_logs", "sd_of_logs", POOLED),
    Mutant(
        "intervals/pooled.py",
        "if np.isfinite(n_others):\n        return fdtrc",
        "if False:\n        return fdtrc",
        POOLED,
    ),
    Mutant(
        "intervals/pooled.py",
        "min(2 * min(p, _p_of_equality(chosen_of(groups, large))), 1.0)",
        "p",
        POOLED,
    ),
    Mutant("intervals/pooled.py", "[every] if large.all() else [every, large]", "[every]", POOLED),
    Mutant("intervals/pooled.py", "(1 - level) / len(sets)", "(1 - level)", AGREEMENT),
    Mutant("intervals/pooled.py", "line), highest)", "line), np.inf)", AGREEMENT),
    Mutant("intervals/pooled.py", "np.log(FEWEST / errors)", "likeliest", AGREEMENT),
    Mutant("intervals/equality.py", "xr.zeros_like(data) + ", "data + 0 * ", AGREEMENT),
    Mutant(
        "intervals/effective.py",
        "_df_over(estimate.dims, contribution)",
        "contribution.df.min()",
        AGREEMENT,
    ),
    Mutant("intervals/compare.py", "np.maximum(reach, np.abs(estimate))", "reach", AGREEMENT),
    Mutant("intervals/compare.py", "2 * squares / np", "squares / np", AGREEMENT),
    Mutant("intervals/bands.py", "np.minimum(lower, result.lower)", "lower", AGREEMENT),
    Mutant("intervals/bands.py", "np.maximum(upper, result.upper)", "upper", "test_few_accepted"),
    Mutant("intervals/pooled.py", "rate**2 - people_part - pairs_part", "rate**2", POOLED),
    Mutant("intervals/pooled.py", "(1 + 1 / partners - 4 / people)", "1", POOLED),
    Mutant("intervals/pooled.py", "noise - delta * p0", "noise - 0 * p0", POOLED),
    Mutant("intervals/pooled.py", "(excess[equality] > TOLERANCE).all()", "False", AGREEMENT),
    Mutant(
        "intervals/pooled.py", "people_variance = c / people", "people_variance = 0 * c", POOLED
    ),
    Mutant("intervals/pooled.py", "c = people_variance / pairs_variance - 1", "c = -1.0", POOLED),
    Mutant("intervals/pooled.py", "1 - groups.n / groups.n.sum()", "1.0", POOLED),
    Mutant("intervals/pooled.py", "(variance - 2)).sum()", "0 * variance).sum()", POOLED),
    Mutant("intervals/pooled.py", "np.diag(covariance(groups.people_variance))", "0 * n", POOLED),
    Mutant("intervals/pooled.py", "with_pair = free_level and", "with_pair = False and", AGREEMENT),
    Mutant("intervals/pooled.py", "a = share * of_all[0] + (1 - share) *", "a =", POOLED),
    Mutant("intervals/effective.py", "is_binomial = excess < 0", "is_binomial = True", POOLED),
    Mutant("intervals/effective.py", 'if name != "far_cross":', "if True:", POOLED),
    Mutant(
        "intervals/effective.py",
        "< FEWEST_ACCEPTED",
        "< 0 * FEWEST_ACCEPTED",
        "test_few_accepted",
    ),
    Mutant("intervals/compare.py", "2 / pair", "1 / pair", "test_few_accepted"),
    Mutant("intervals/pooled.py", "(share**2 / np.where(present, pairs, 1))", "(share**2)", POOLED),
    Mutant("intervals/pooled.py", "/ np.where(share < 1, 1 - share, 1)", "", POOLED),
    Mutant("intervals/pooled.py", "_total(people * (own", "_total((own", POOLED),
    Mutant("intervals/pooled.py", "is_larger | (binomial", "True | (binomial", POOLED),
    Mutant("intervals/pooled.py", "rho + (1 - rho) * if_zero", "1", POOLED),
    Mutant(
        "intervals/equality.py", "(1 - w) ** 2 * variance_of_far", "0 * variance_of_far", POOLED
    ),
    Mutant("intervals/pooled.py", "if groups.curve is None:\n", "if True:\n", POOLED),
    Mutant("intervals/equality.py", "added.errors_at_eer if", "added.errors if", POOLED),
    Mutant(
        "intervals/pooled.py",
        "-(weight @ groups.curve), np.log",
        "-groups.curve[0], np.log",
        POOLED,
    ),
    Mutant("intervals/equality.py", "w * (added.curve", "(added.curve", POOLED),
    Mutant("intervals/equality.py", "not is_of_ratios", "False", POOLED),
    Mutant("intervals/equality.py", "target != NEW_PEOPLE", "True", POOLED),
    # what thinned pairs represent, verification metrics, limits, plans
    Mutant(
        "engine/sweep.py",
        "np.minimum(number[pairs], stands_for(score[pairs], cuts[small_group]))",
        "number[pairs]",
        "test_sweep",
    ),
    Mutant("evaluation/sweep.py", " - n_probes @ n_references", "", "test_sweep"),
    Mutant(
        "evaluation/verification.py",
        "(share * (score - mean.to_numpy()) ** 2).sum()",
        "((score - mean.to_numpy()) ** 2).mean()",
        "test_verification",
    ),
    Mutant(
        "evaluation/verification.py",
        "(n_impostors or n_all)",
        "n_all",
        "test_verification",
    ),
    Mutant("evaluation/verification.py", "score * [-1, 1]", "score * [1, -1]", "test_verification"),
    Mutant("evaluation/verification.py", "- mean.to_numpy()", "", "test_verification"),
    Mutant("evaluation/verification.py", "share[:, 0] / both", "share[:, 0]", "test_verification"),
    Mutant(
        "evaluation/verification.py",
        "table[table.fold != k]",
        "table",
        "test_verification",
    ),
    Mutant("measures/disparity.py", "(n - 1) * rates.sum", "n * rates.sum", DISPARITY),
    Mutant("measures/disparity.py", ", min_count=1)", ")", DISPARITY),
    Mutant("reporting/check.py", "ends[1 + is_below]", "ends[2 - is_below]", "test_command"),
    Mutant("reporting/check.py", "(limit - middle)) ** 2", "(limit - middle))", "test_command"),
    Mutant(
        "reporting/check.py",
        "both.estimate_old - both.lower_old)",
        "0)",
        "test_command",
    ),
    Mutant("studies/sample_size.py", "item() * factor - 1", "item() - 1", PLANS),
    Mutant("studies/sample_size.py", "people - len(rate)", "n_people - len(rate)", PLANS),
    Mutant("studies/sample_size.py", "np.sqrt(ERRORS / max", "(ERRORS / max", PLANS),
    # N-Sigma
    Mutant("nsigma/statistics.py", "std(SUBSET, ddof=1)", "std(SUBSET, ddof=0)", N_SIGMA),
    Mutant("nsigma/statistics.py", "2 / np.pi", "1 / np.pi", N_SIGMA),
    Mutant(
        "nsigma/statistics.py",
        "(reference_mean - mean) / ref",
        "(mean - reference_mean) / ref",
        N_SIGMA,
    ),
    Mutant("nsigma/statistics.py", "(1 - alpha) * b", "b", N_SIGMA),
    # representation
    Mutant("representation/bounds.py", "n_people / (n_people - 1) * ", "", RLB),
    Mutant("representation/bounds.py", "- np.log(len(z))", "", RLB),
    Mutant("representation/rlb.py", "- value * (surprise - h) / h**2", "", RLB),
    Mutant("representation/rlb.py", "rlb > 2 * values", "rlb > values", RLB),
    Mutant("representation/rlb.py", "train_share = 1 - 2 / folds", "train_share = 1.0", RLB),
    Mutant("representation/bounds.py", "(m - 1) * (m + 2)", "m * m", RLB),
    Mutant("representation/bounds.py", "half_kept * noise", "noise", RLB),
    Mutant("representation/probes.py", "loss_se / h", "loss_se", "test_comparators"),
    Mutant(
        "representation/dependence.py", "2 * rows / (n - 2)", "2 * rows / n", "test_comparators"
    ),
    # von Mises-Fisher mixtures
    Mutant("vmf/exact.py", "m * fall) * now", "m * grow) * now", VMF),
    Mutant("vmf/exact.py", "* (n_identities - 1) / 2", "* n_identities / 2", VMF),
    Mutant("vmf/exact.py", "SAFETY * EPSILON * size", "0 * size", VMF),
    Mutant("vmf/law.py", "weights.ravel() * kappa", "weights.ravel()", VMF),
    Mutant("vmf/densities.py", "log_power = order * np.log(2 / radius)", "log_power = 0.0", VMF),
]


def check(mutant):
    """Stop if a mutant's formula does not stand exactly once in its file."""
    count = (ROOT / "frkit" / mutant.file).read_text(encoding="utf-8").count(mutant.formula)
    if count != 1:
        sys.exit(f"{mutant.file} contains {mutant.formula!r} {count} times")


def survives(mutant, copy):
    """Say whether all quick tests of a mutant's files pass."""
    path = copy / "frkit" / mutant.file
    source = path.read_text(encoding="utf-8")
    for cache in path.parent.glob("__pycache__/*.nb?"):
        cache.unlink()  # compiled code that calls what is changed
    path.write_text(source.replace(mutant.formula, mutant.wrong), encoding="utf-8")
    tests = [str(next(copy.glob(f"tests/**/{name}.py"))) for name in mutant.tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", QUICK]
    environment = os.environ | {"PYTHONPATH": str(copy)}
    answer = subprocess.run([*command, *tests], cwd=copy, env=environment, capture_output=True)
    path.write_text(source, encoding="utf-8")
    return answer.returncode in (0, 5)  # 5: no quick test was chosen


def main(wanted_files):
    chosen = [
        m for m in MUTANTS if not wanted_files or any(word in m.file for word in wanted_files)
    ]
    for mutant in chosen:
        check(mutant)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            take = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            take(ROOT / name, copy / name)
        tests = " ".join(sorted({name for mutant in chosen for name in mutant.tests.split()}))
        unchanged = replace(chosen[0], wrong=chosen[0].formula, tests=tests)
        if not survives(unchanged, copy):
            sys.exit(f"without a mutant, a test fails already: {tests}")
        for mutant in chosen:
            alive = survives(mutant, copy)
            survivors += alive
            outcome = "SURVIVES" if alive else "killed  "
            print(f"{outcome} {mutant.file}: {mutant.formula} -> {mutant.wrong}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants are killed")


if __name__ == "__main__":
    main(sys.argv[1:])
