"""Cost of the distance correlation beside the bare Gram products: python
tests/benchmarks/distance_correlation.py

CPU seconds and peak memory at n = 5000, d = 512, one BLAS thread, for two and four classes, with
and without permutations. `--n` and `--d` set other sizes.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from frkit.representation import distance_correlation, shifted_classes

BLOCK = 500
REPEATS = 3


def gram(x: np.ndarray) -> float:
    """All inner products of the rows, in blocks."""
    return sum(float((x[start : start + BLOCK] @ x.T).sum()) for start in range(0, len(x), BLOCK))


def seconds(call: Callable[[], object]) -> float:
    """Least CPU time of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def megabytes() -> float:
    """Peak memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of the distance correlation.")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--d", type=int, default=512)
    arguments = parser.parse_args()
    with threadpool_limits(1, user_api="blas"):
        for classes in (2, 4):
            shares = np.full(classes, 1 / classes)
            faces = shifted_classes(
                arguments.n, arguments.d, distance=0, shares=shares, per_identity=5
            )
            x = faces.embedding.values.astype(np.float64)
            bare = seconds(lambda x=x: gram(x))
            print(f"{classes} classes, bare Gram products: {bare:.2f} s")
            for permutations in (0, 199):
                how = {"permutations": permutations}
                ours = seconds(
                    lambda faces=faces, how=how: distance_correlation(faces, "group", **how)
                )
                print(
                    f"{classes} classes, {permutations} permutations: "
                    f"{ours:.2f} s, ratio {ours / bare:.2f}",
                    end="",
                )
                print(f", peak {megabytes():.0f} MB")


if __name__ == "__main__":
    main()
