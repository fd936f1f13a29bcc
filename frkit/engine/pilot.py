"""The pilot: a sample of the scores, from which the sweep is planned."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from frkit.engine import blocks
from frkit.engine import plan as planning
from frkit.engine.plan import Patch, Pilot
from frkit.engine.protocol import Protocol

PILOT_PAIRS = 300_000  # pairs in the pilot, at least
PILOT_SHARE = 300  # and one in so many of all pairs
PILOT_BLOCKS = 24  # taken from so many blocks of the tensor
PILOT_REPLICATES = 24
DIAGONAL_BLOCKS = 8  # whole blocks in which the pilot looks for genuine pairs


def take_pilot(scores: xr.DataArray, protocol: Protocol) -> tuple[Pilot, list]:
    """A sample of the scores from some of the blocks, and FAR ranges in which EERs should lie."""
    share = max(PILOT_PAIRS, protocol.n_pairs // PILOT_SHARE) / max(protocol.n_pairs, 1)
    n_blocks = np.prod(scores.data.numblocks) / (1 + protocol.symmetric)
    step = max(1, int(np.sqrt(min(1.0, PILOT_BLOCKS / n_blocks) / share)))
    rng = np.random.default_rng(0)  # a guess of where to look closely; no result depends on it
    patches = []
    for block, rows, cols in _sampled(scores.data, step, _some_blocks(scores.data, protocol.symmetric, step, rng)):
        patches.append(_patch(block, rows, cols, protocol, rng))
    genuine = [[] for _ in range(len(protocol.groups) + 1)]
    for block, rows, cols in _sampled(scores.data, 1, _diagonal_blocks(scores.data)):
        _file_genuine(block, rows, cols, protocol, genuine)
    pilot = Pilot(patches)
    return pilot, planning.crossing_zones(pilot, [np.concatenate(found, axis=1) for found in genuine])


def _some_blocks(array, symmetric: bool, step: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Blocks at random, of the upper triangle where the tensor is symmetric."""
    every = [at for at in np.ndindex(array[::step, step // 2 :: step].numblocks) if not symmetric or at[1] >= at[0]]
    return [every[k] for k in rng.permutation(len(every))[:PILOT_BLOCKS]]


def _diagonal_blocks(array) -> list[tuple[int, int]]:
    """Some blocks along the diagonal: where images stand by identity, they hold the genuine pairs."""
    n = min(array.numblocks)
    return [(int(k), int(k)) for k in np.unique(np.linspace(0, n - 1, min(n, DIAGONAL_BLOCKS)).round())]


def _sampled(array, step: int, wanted: list[tuple[int, int]]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Some blocks with every so many-th row and column: (scores, rows, columns)."""
    data = array[::step, step // 2 :: step] if step > 1 else array
    rows, cols = np.arange(0, array.shape[0], step), np.arange(step // 2 if step > 1 else 0, array.shape[1], step)
    values = blocks.run(blocks.graph(data, wanted), [(data.name, *at) for at in wanted])
    bounds = blocks.bounds(data)
    for (i, j), block in zip(wanted, values, strict=True):
        yield block, rows[bounds[0][i] : bounds[0][i + 1]], cols[bounds[1][j] : bounds[1][j + 1]]


def _patch(values: np.ndarray, rows, cols, protocol: Protocol, rng: np.random.Generator) -> Patch:
    """Impostor scores of one block of the pilot, with their images' weights."""
    impostor = protocol.probe.person[rows][:, None] != protocol.reference.person[cols]
    impostor &= protocol.cell_of[protocol.probe.group[rows][:, None], protocol.reference.group[cols]] >= 0
    drawn = bool(np.any(protocol.identity_count != 1))
    weights = [_pilot_weight(side, at, drawn, rng) for side, at in ((protocol.probe, rows), (protocol.reference, cols))]
    return Patch(np.where(impostor, values, np.float32(np.nan)), *weights)


def _file_genuine(values: np.ndarray, rows: np.ndarray, cols: np.ndarray, protocol: Protocol, genuine: list) -> None:
    """Genuine scores of one block of the pilot, with their weights in the FRR: by group, and last all of them."""
    r, c = np.nonzero(protocol.probe.identity[rows][:, None] == protocol.reference.identity[cols])
    apart = protocol.people.probe[rows[r]] != protocol.people.reference[cols[c]]
    found, group = values[r, c][apart], protocol.probe.group[rows[r]][apart]
    pairs = np.bincount(protocol.probe.identity[protocol.asked[0][: protocol.n_genuine]], minlength=len(protocol.share))
    per_pair = protocol.share**2 / (1 if protocol.pooled else np.maximum(pairs, 1))
    weighted = np.stack([found, per_pair[protocol.probe.identity[rows[r]][apart]]])
    for g in range(len(protocol.groups) + 1):
        own = group == g if g < len(protocol.groups) else slice(None)
        genuine[g].append(weighted[:, own][:, ~np.isnan(found[own])])


def _pilot_weight(side, at: np.ndarray, drawn: bool, rng: np.random.Generator) -> np.ndarray:
    """Weights of the pilot's images: the data, then the data blurred, then replicates where identities are drawn."""
    weight = side.weight[at, :1] * side.scale[at, None]
    blurred = weight * rng.poisson(1.0, (len(at), planning.BLURRED))
    replicates = side.weight[at, 1 : PILOT_REPLICATES + 1] * side.scale[at, None]
    return np.concatenate([weight, blurred, replicates[:, : PILOT_REPLICATES if drawn else 0]], 1).astype(np.float32)
