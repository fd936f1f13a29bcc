"""What frkit costs: python tests/benchmarks/all.py [--quick] [--only PART ...]

    first     `import frkit`; then the README's example in three processes: one that compiles, one
              that finds what was compiled, one that can keep nothing
    sweep     a sweep with and without replicates and of every pair, and 20 data sets of a coverage
              study, against the bare product (sweep.py)
    others    RLB (one seed of five folds), N-Sigma, the fairness indices, warm, on
              1,500 images of 300 people
    images    10,000 to 200,000 images, each evaluation in a process of its own; a million and ten
              million by the slope between the two largest that were measured: no measurements
    rivals    general bootstraps of the scores of 300 to 3,000 images, which need every score at
              once; larger sizes they do not survive in 4 GB of memory

    cpu s     CPU seconds of all threads
    x product over those of the bare matrix product in the same process

--quick runs toy sizes, to see that the command works.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIZES = {False: (10_000, 50_000, 100_000, 200_000), True: (400, 800)}
BEYOND = (1_000_000, 10_000_000)
RIVAL_SIZES = {False: (300, 1000, 3000), True: (200,)}
REPLICATES = 200
MEMORY = 4_000_000_000  # that a rival may take
ROW = "{:<44}{:>10}{:>10}{:>12}{:>10}"
# The README's example, and what it took after the interpreter had started.
FIRST = """\
import time
import frkit as fk
imported = time.process_time()
scores = fk.score_tensor(fk.open_faces("data/demo_faces.npz"))
began = time.perf_counter(), time.process_time()
fk.band(fk.evaluate(scores, far=fk.far_levels(1e-4, 1e-2)), "frr")
print(imported, time.perf_counter() - began[0], time.process_time() - began[1], time.process_time())
"""


def python(*arguments, **environment) -> str:
    """What a new process of this Python prints."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(HERE), os.environ.get("PYTHONPATH")]))
    command, given = (
        [sys.executable, *map(str, arguments)],
        os.environ | {"PYTHONPATH": path} | environment,
    )
    return subprocess.run(
        command, cwd=ROOT, env=given, check=True, capture_output=True, text=True
    ).stdout


def show_first(quick: bool) -> None:
    """The first second, the first call and the second process."""
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            "kernels are compiled": {"NUMBA_CACHE_DIR": folder},
            "second process": {"NUMBA_CACHE_DIR": folder},
        }
        cases["nothing can be kept"] = {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
        for name, environment in cases.items():
            imported, wall, cpu, whole = map(float, python("-c", FIRST, **environment).split())
            print(ROW.format(f"import frkit, {name}", f"{imported:.2f}", "", "", ""))
            print(
                ROW.format(
                    f"first evaluation and band, {name}", f"{cpu:.2f}", f"{wall:.2f}", "", ""
                )
            )
            print(ROW.format(f"whole process, {name}", f"{whole:.2f}", "", "", ""), flush=True)


def show_command(script: str, *arguments: str, quick: bool) -> None:
    """The table of another command."""
    print(python(HERE / script, *(["--quick"] if quick else []), *arguments), flush=True)


def show_others(quick: bool) -> None:
    """RLB, N-Sigma, indices and disparities, the second call of each."""
    import workload

    import frkit as fk

    faces = workload.make_faces(300 if quick else 1500, 128, 5, 5)
    scores = fk.score_tensor(faces)
    works = {
        "RLB, one seed of five folds": partial(
            fk.representation_bias, faces, "race", seeds=1, progress=False
        ),
        "N-Sigma, 100 subsets": partial(fk.n_sigma, scores, by="race"),
        "fairness indices": partial(fk.fairness_indices, scores, by="race"),
    }
    for name, work in works.items():
        work()
        cpu, wall = workload.clock(work)
        print(ROW.format(name, f"{cpu:.2f}", f"{wall:.2f}", "", ""), flush=True)


def measure_images(n: int, replicates: int) -> None:
    """In a process of its own: CPU and wall seconds of an evaluation, CPU of the bare product,
    peak memory."""
    import workload

    import frkit as fk

    def evaluate(faces):
        how = None if replicates == 0 else fk.Resampling("image", n=replicates)
        far = fk.far_levels(1e-7, 1e-3)
        return fk.evaluate(
            fk.score_tensor(faces), far=far, by="race", resampling=how, progress=False
        )

    evaluate(workload.make_faces(600, 128, 10, 10))
    faces = workload.make_faces(n, 128, 10, 10)
    product = workload.clock(partial(workload.bare_product, faces.embedding.values))[0]
    cpu, wall = workload.clock(partial(evaluate, faces))
    print(json.dumps([cpu, wall, product, workload.peak_memory()]))


def show_images(quick: bool) -> None:
    """The table of images; beyond the measured sizes by their slope."""
    for replicates in (0, REPLICATES):
        found = {}
        for n in SIZES[quick]:
            found[n] = json.loads(python(HERE / "all.py", "--images", n, replicates))
            _show_images(f"{n:,} images, {replicates} replicates", found[n])
        (m, fewer), (n, more) = list(found.items())[-2:]
        for size in BEYOND:  # pairs grow with the square of the images: so does what is not fixed
            share = (size**2 - n**2) / (n**2 - m**2)
            slope = [b + (b - a) * share for a, b in zip(fewer, more)]
            slope[3] = more[3] + (more[3] - fewer[3]) * (size - n) / (n - m)
            _show_images(f"{size:,} images, {replicates}, by the slope", slope)


def _show_images(name: str, figures: list[float]) -> None:
    cpu, wall, product, memory = figures
    print(
        ROW.format(name, f"{cpu:,.1f}", f"{wall:,.1f}", f"{cpu / product:.2f}", f"{memory:.2f}"),
        flush=True,
    )


def measure_rival(name: str, n: int) -> None:
    """In a process of its own: the time of two and of six replicates, multiplied to REPLICATES,
    and peak memory."""
    import numpy as np
    import rivals
    import workload

    faces = workload.make_faces(n, 128, 10, 10)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    product = workload.clock(partial(workload.bare_product, faces.embedding.values))[0]
    given = faces.embedding.values, faces.identity.values
    given = rivals.pair_scores(*given)
    far, few, many = np.logspace(-3, -1, 9), 2, 6
    rival = getattr(rivals, name)
    rival(*given, far, few)
    times = [workload.clock(partial(rival, *given, far, b)) for b in (few, many)]
    cpu, wall = ((b - a) / (many - few) * REPLICATES for a, b in zip(*times))
    print(json.dumps([cpu, wall, product, workload.peak_memory()]))


def show_rivals(quick: bool) -> None:
    """Other packages at the sizes that they survive."""
    packages = {
        "with_scipy": "scipy.stats",
        "with_score_analysis": "score_analysis",
    }
    for rival, package in packages.items():
        try:
            import_module(package)
        except ImportError:
            print(f"{package}: not installed, skipped; pip install 'frkit[benchmark]' brings it")
            continue
        for n in RIVAL_SIZES[quick]:
            try:
                figures = json.loads(python(HERE / "all.py", "--rival", rival, n))
            except subprocess.CalledProcessError as failed:
                why = (failed.stderr.splitlines() or ["killed"])[-1]
                print(
                    f"{package}, {n:,} images: not within {MEMORY / 1e9:.0f} GB of memory ({why})"
                )
                break
            _show_images(f"{package}, {n:,} images, {REPLICATES} replicates", figures)


PARTS = {
    "first": show_first,
    "sweep": partial(show_command, "sweep.py", "--only", "rates", "none", "all", "many"),
    "others": show_others,
    "images": show_images,
    "rivals": show_rivals,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="toy sizes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--images", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rival", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # levels below the resolution of toy data, few images
    if asked.images:
        return measure_images(*asked.images)
    if asked.rival:
        return measure_rival(asked.rival[0], int(asked.rival[1]))
    for part in asked.only:
        began = time.perf_counter()
        print(f"== {part}")
        print(ROW.format("", "cpu s", "wall s", "x product", "peak GB"), flush=True)
        PARTS[part](quick=asked.quick)
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
