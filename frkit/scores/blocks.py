"""The sweep: one pass over a lazy array of scores, from which some pairs are kept.

All genuine pairs are kept, all comparisons that failed, and the impostor pairs that
`frkit.scores.selection` chooses. The sweep knows whose images they are only to tell genuine pairs
from impostor pairs, and small groups only to keep more of their pairs. It knows no weights, and no
question: what it keeps answers them all.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import get_ident
from typing import NamedTuple

import dask.threaded
import numpy as np
import pandas as pd
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import refuse_infinite, require
from frkit.scores import kernels
from frkit.scores.selection import (
    PRECISE,
    PRECISE_IN_GROUP,
    Selection,
    pattern_of_levels,
    stands_for,
)
from frkit.scores.tensor import block_side

FIRST_BATCH = 1_000_000  # pairs
BATCHES = 40  # at least so many if there are many blocks, for the progress bar
FEW_BLOCKS = 8  # of a batch
NONE = np.empty(0, np.int32)
MEMORY: dict[int, list[np.ndarray]] = {}  # of each thread, for the pairs of a block
WINDOW = 8  # images at either end, whose scores are compared with their transpose


class Sides(NamedTuple):
    """What the sweep must know of the images on both sides of a tensor.

    probe, reference : the image of each row and of each column.
    person : (image,) who is in it. groups : (attribute, image) its small group, or -1.
    symmetric : whether rows and columns are the same images, so that a triangle is enough.
    """

    probe: np.ndarray
    reference: np.ndarray
    person: np.ndarray
    groups: np.ndarray
    symmetric: bool


def sweep_scores(
    array,
    sides: Sides,
    n_exact: int,
    thresholds,
    progress: bool | Callable[[float], None],
) -> tuple[dict[str, np.ndarray], dict]:
    """Scan every block of a lazy array that contains pairs, some blocks at a time.

    Returns the columns of the kept pairs, by rising score, and of the images; and
    numbers of pairs, with the lowest and the highest score of two images that were swept.

    n_exact : impostor pairs that are all kept, the highest. thresholds : above which all are kept.
    progress : whether to show a bar; or what is called with the share that is done.
    """
    side = block_side(max(array.shape))
    delayed = array.rechunk(side).to_delayed(optimize_graph=False)
    genuine = _genuine_pairs(sides)
    genuine_score = np.full(len(genuine), np.nan, array.dtype)
    genuine_in_block = genuine.groupby([genuine.row // side, genuine.col // side]).indices
    rows_and_cols = genuine[["row", "col"]].to_numpy()
    selections = {-1: Selection(n_exact, PRECISE, thresholds)}
    for group in np.unique(sides.groups[sides.groups >= 0]).tolist():
        selections[group] = Selection(PRECISE_IN_GROUP, PRECISE_IN_GROUP)
    failed = []
    lowest = np.inf
    n_done = 0
    blocks = blocks_in_order(delayed.shape, sides.symmetric)
    shared_sides = dask.delayed(sides, traverse=False)
    bar = tqdm(total=len(blocks), desc="sweep", unit="block", disable=progress is not True)
    with threads(), bar:
        if sides.symmetric:
            _check_transpose(array)
        while n_done < len(blocks):
            size = min(n_done // 2, max(len(blocks) // BATCHES, FEW_BLOCKS))
            size = max(FIRST_BATCH // side**2, size, 1)
            batch = blocks[n_done : n_done + size]
            floors = dask.delayed(_floors(selections, array.dtype), traverse=False)
            tasks = []
            for i, j in batch:
                corner = i * side, j * side
                inside = rows_and_cols[genuine_in_block.get((i, j), NONE)] - corner
                tasks.append(_SCAN(delayed[i, j], corner, shared_sides, floors, inside))
            scanned = dask.compute(*tasks)
            for block, part in zip(batch, scanned):
                genuine_score[genuine_in_block.get(block, NONE)] = part.genuine
                failed.append(part.failed)
                lowest = min(lowest, part.lowest)
            _add(selections, [part.pairs for part in scanned])
            _add(selections, [part.within for part in scanned])
            n_done += len(batch)
            bar.update(len(batch))
            if callable(progress):
                progress(n_done / len(blocks))
    MEMORY.clear()
    failed_row, failed_col = (np.concatenate(entries) for entries in zip(*failed))
    return _collected(sides, selections, genuine, genuine_score, failed_row, failed_col, lowest)


def blocks_in_order(shape, symmetric) -> list[tuple[int, int]]:
    """The blocks to scan, at random, so that the first ones show what scores are like."""
    blocks = [(i, j) for i, j in np.ndindex(shape) if i <= j or not symmetric]
    return [blocks[k] for k in np.random.default_rng(0).permutation(len(blocks))]


@contextmanager
def threads():
    """The active scheduler of dask, with a pool of its own, of threads with one BLAS thread each.

    dask's own pool of threads does not survive a fork of the process.
    """
    n = dask.config.get("num_workers", None) or CPU_COUNT
    with threadpool_limits(1, user_api="blas"):
        # without distributed there is no client, and importing it takes longer than a small sweep
        may_have_client = "distributed" in sys.modules or dask.config.get("scheduler", None)
        has_scheduler = may_have_client and get_scheduler() is not None
        if has_scheduler or dask.config.get("pool", None):
            yield
            return
        with ThreadPoolExecutor(n) as pool, dask.config.set(scheduler=dask.threaded.get, pool=pool):
            yield


def _genuine_pairs(sides: Sides) -> pd.DataFrame:
    """Rows and columns of all pairs of images of one person, and of images with themselves."""
    rows = pd.DataFrame({"person": sides.person[sides.probe], "row": np.arange(len(sides.probe))})
    cols = pd.DataFrame(
        {"person": sides.person[sides.reference], "col": np.arange(len(sides.reference))}
    )
    pairs = rows.merge(cols, on="person").drop(columns="person").astype(np.int32)
    return pairs[pairs.row <= pairs.col] if sides.symmetric else pairs


def _check_transpose(scores) -> None:
    """Require that a tensor equals its transpose in some blocks, if only a triangle is read."""
    n = len(scores)
    tried = np.unique(np.append(np.arange(min(WINDOW, n)), np.arange(max(n - WINDOW, 0), n)))
    values = scores[tried][:, tried].compute()
    finite = values[np.isfinite(values)].astype(float)
    rounding = 8 * np.finfo(values.dtype).eps * np.abs(finite).max(initial=0)
    slack = 1e-4 * np.std(finite) + rounding if finite.size else 0.0
    require(
        np.allclose(values, values.T, rtol=0, atol=slack, equal_nan=True),
        "these scores depend on which image is the probe, but their attribute `symmetric` says "
        "that they do not: say fk.score_tensor(..., symmetric=False), or "
        "scores.assign_attrs(symmetric=0)",
    )


def _floors(selections, dtype):
    """What scores must exceed: along the pattern of levels, and by level in each small group."""
    levels = pattern_of_levels()
    common_floors = selections[-1].floors.astype(dtype)[levels]
    group_floors = np.array([s.floors for group, s in selections.items() if group >= 0])
    return common_floors, group_floors.astype(dtype).reshape(-1, len(selections[-1].floors)), levels


def _add(selections, blocks) -> None:
    """Add columns (row, column, score, level, group) of some blocks to the populations."""
    columns = [np.concatenate(column) for column in zip(*blocks)]
    if len(columns) == 4:
        selections[-1].add(columns)
        return
    group = columns.pop()
    for number in np.unique(group).tolist():
        selections[number].add([column[group == number] for column in columns])


# --- one block -----------------------------------------------------------------------------------


class Scanned(NamedTuple):
    """What is read from a block.

    pairs, within : columns (row, column, score, level) of the impostor pairs that are kept so far,
    and of those within small groups, with the group. failed : rows and columns of failed impostor
    pairs. genuine : genuine scores. lowest : score of all.
    """

    pairs: list[np.ndarray]
    within: list[np.ndarray]
    failed: tuple[np.ndarray, np.ndarray]
    genuine: np.ndarray
    lowest: float


def _thread_columns(size, dtype):
    """Rows, columns, scores, levels and groups of pairs, with space for one that is lost.

    Each thread writes the pairs of all its blocks into the same memory. New memory for each block
    would take a third of the time of its product.
    """
    columns = MEMORY.get(get_ident())
    if columns is None or len(columns[0]) <= size or columns[2].dtype != dtype:
        types = np.int32, np.int32, dtype, np.uint8, np.int32
        columns = MEMORY[get_ident()] = [np.empty(size + 1, kind) for kind in types]
    return columns


def _scan(block, corner, sides: Sides, floors, genuine) -> Scanned:
    """Choose among the impostor pairs of a block; read the genuine scores that lie in it.

    corner : row and column of the tensor where the block begins. genuine : (pair, 2) in the block.
    """
    block = np.ascontiguousarray(block)
    rows = sides.probe[corner[0] : corner[0] + block.shape[0]]
    cols = sides.reference[corner[1] : corner[1] + block.shape[1]]
    person = sides.person[rows], sides.person[cols]
    floor, floor_in_group, levels = floors
    where = block, corner, person
    columns = _thread_columns(block.size, block.dtype)[:4]
    n = kernels.select(*where, floor, levels, sides.symmetric, *columns)
    pairs = [column[:n].copy() for column in columns]
    within = [column[:0] for column in (*columns, NONE)]
    if len(floor_in_group):
        row_groups = sides.groups[:, rows]
        col_order, col_start = _by_group(sides.groups[:, cols], len(floor_in_group))
        n_most = np.diff(col_start)[row_groups[row_groups >= 0]].sum()
        columns = _thread_columns(n_most, block.dtype)
        n = kernels.select_within(
            *where, row_groups, col_order, col_start, floor_in_group, levels, sides.symmetric,
            *columns,
        )  # fmt: skip
        within = [column[:n].copy() for column in columns]
    failed = NONE, NONE
    lowest = float(block.min())
    genuine_score = block[genuine[:, 0], genuine[:, 1]]
    highest = max(pairs[2].max(initial=-np.inf), genuine_score.max(initial=-np.inf))
    if not np.isfinite(lowest) or not np.isfinite(highest):
        refuse_infinite(block)
        lowest = float(np.fmin.reduce(block, axis=None, initial=np.inf))
        is_nan = np.isnan(pairs[2])
        failed = pairs[0][is_nan], pairs[1][is_nan]
        pairs = [column[~is_nan] for column in pairs]
        within = [column[~np.isnan(within[2])] for column in within]
    return Scanned(pairs, within, failed, genuine_score, lowest)


_SCAN = dask.delayed(_scan, pure=False)


def _by_group(groups, n_groups):
    """Columns in the order of their small groups, and where each group begins, (group + 1)."""
    group, column = groups.ravel(), np.tile(np.arange(groups.shape[1]), len(groups))
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(n_groups + 1))
    return column[order].astype(np.int32), start


# --- all blocks together -------------------------------------------------------------------------


def _collected(sides, selections, genuine, genuine_score, failed_row, failed_col, lowest):
    """The kept pairs of all blocks by rising score, failed ones last, each of them once."""
    cuts = {}
    columns = {}
    for group, selection in selections.items():
        columns[group], cuts[group] = selection.finish()
    row, col, score = (np.concatenate(blocks) for blocks in zip(*columns.values()))
    columns.clear()
    row = sides.probe[row]
    col = sides.reference[col]
    number = _numbers_of_pairs(sides, row, col, score, cuts)

    is_of_itself = sides.probe[genuine.row] == sides.reference[genuine.col]
    self_score = np.full(len(sides.person), np.nan, score.dtype)
    self_score[sides.probe[genuine.row[is_of_itself]]] = genuine_score[is_of_itself]
    genuine = genuine[~is_of_itself]
    genuine_score = genuine_score[~is_of_itself]
    failed_row = sides.probe[failed_row]
    failed_col = sides.reference[failed_col]
    failed = _failed_images(sides, failed_row, failed_col)
    single = ~(failed[failed_row] | failed[failed_col])

    columns = {
        "probe_image": np.concatenate([row, sides.probe[genuine.row], failed_row[single]]),
        "reference_image": np.concatenate([col, sides.reference[genuine.col], failed_col[single]]),
        "score": np.concatenate([score, genuine_score, np.full(single.sum(), np.nan, score.dtype)]),
        "stands_for": np.append(number, np.ones(len(genuine) + single.sum(), np.int32)),
    }
    del row, col, score, number  # no pair is in memory twice, and columns are sorted singly
    order = _each_pair_once(columns["probe_image"], columns["reference_image"], len(sides.person))
    order = order[np.argsort(columns["score"][order], kind="stable")]
    for name in columns:
        columns[name] = columns[name][order]
    numbers = {
        "pairs_kept": len(order),
        "images_swept": len(sides.person),
        "genuine_pairs": len(genuine),
        "genuine_pairs_failed": int(np.isnan(genuine_score).sum()),
        "impostor_pairs_failed": len(failed_row),
        "lowest_score": lowest,
        "highest_score": float(np.fmax.reduce(columns["score"], initial=-np.inf)),
    }
    return columns | {"self_score": self_score, "failed": failed}, numbers


def _numbers_of_pairs(sides, row, col, score, cuts):
    """How many pairs each kept pair represents.

    cuts : of all pairs, -1, and of small groups. Where several apply, the one that keeps most does.
    """
    number = stands_for(score, cuts[-1])
    thinned = np.flatnonzero(number > 1)
    for groups in sides.groups:
        group = np.where(groups[row[thinned]] == groups[col[thinned]], groups[row[thinned]], -1)
        for small_group in np.unique(group[group >= 0]).tolist():
            pairs = thinned[group == small_group]
            number[pairs] = np.minimum(number[pairs], stands_for(score[pairs], cuts[small_group]))
    return number


def _each_pair_once(row, col, n_images):
    """The order of pairs by row and column; those in two populations are in it once."""
    code = row.astype(np.int64) * n_images + col
    order = np.argsort(code)
    code = code[order]
    is_first = np.ones(len(code), bool)
    is_first[1:] = code[1:] != code[:-1]
    return order[is_first]


def _failed_images(sides, failed_row, failed_col):
    """The images of which all impostor comparisons failed."""
    n_images = len(sides.person)
    n_failed = np.bincount(np.append(failed_row, failed_col), minlength=n_images)
    n_compared = np.zeros(n_images, int)
    for images, partners in ((sides.probe, sides.reference), (sides.reference, sides.probe)):
        n_of_person = np.bincount(sides.person[partners], minlength=sides.person.max() + 1)
        n_compared[images] += len(partners) - n_of_person[sides.person[images]]
    if sides.symmetric:
        n_compared //= 2
    return (n_failed > 0) & (n_failed == n_compared)
