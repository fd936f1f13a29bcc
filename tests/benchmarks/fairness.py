"""The cost of fairness with uncertainty, as a ratio to the bare matrix product of the same images.

    python tests/benchmarks/fairness.py                 10,000 images, 128 and 512 dimensions
    python tests/benchmarks/fairness.py --images 3000    a look

One evaluation as in notebook 3: four groups, 200 replicates of the image scheme, exact thresholds at 13 FAR levels up
to 0.1; then every disparity measure with band, floor and uncertainty. CPU seconds of the whole process, best of three.
"""

import argparse
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import frkit as fk

FAR = fk.far_levels(1e-4, 1e-1, per_decade=4)
GROUPS = {name: {"share": share} for name, share in (("A", 1), ("B", 1), ("C", 1), ("D", 2))}
PATCH = 1024


def cpu_seconds(work, repeats: int = 3) -> float:
    """CPU time of the cheapest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def bare_product(embedding: np.ndarray) -> None:
    """The upper triangle of the matrix of scores, block by block, and nothing else."""
    starts = range(0, len(embedding), PATCH)
    out = np.empty((PATCH, PATCH), np.float32)
    for i in starts:
        for j in starts:
            if j >= i:
                a, b = embedding[i : i + PATCH], embedding[j : j + PATCH]
                np.matmul(a, b.T, out=out[: len(a), : len(b)])


def all_measures(ev) -> None:
    """Band, floor and uncertainty of every disparity measure."""
    for name in fk.measures.names():
        measure = fk.measures.measure(name)
        if measure.fair is not None and not name.startswith("auc"):
            fk.band(ev, measure), fk.fair_floor(ev, measure), fk.uncertainty(ev, measure)


def measure(n_images: int, dim: int) -> str:
    """One line: times, and their ratio to the bare product."""
    mix = fk.vmf.mixture(n_images // 10, dim, kappa=(dim, 4 * dim), seed=0, groups=GROUPS)
    faces = mix.sample(10)
    scores, resampling = fk.score_tensor(faces), fk.Resampling("image", n=200)

    def evaluate():
        return fk.evaluate(scores, far=FAR, by="group", resampling=resampling)

    ev = evaluate()  # compiles the kernels
    with threadpool_limits(1):
        product = cpu_seconds(lambda: bare_product(faces.embedding.values))
    sweep, rest = cpu_seconds(evaluate), cpu_seconds(lambda: all_measures(ev))
    return (
        f"{n_images} images, {dim} dimensions: product {product:.2f} s, evaluation {sweep:.2f} s "
        f"({sweep / product:.2f} x), all measures {rest:.2f} s; together {(sweep + rest) / product:.2f} x"
    )


def main() -> None:
    """Measure and print one line for each number of dimensions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", fk.DataWarning)
    for dim in (128, 512):
        print(measure(arguments.images, dim), flush=True)


if __name__ == "__main__":
    main()
