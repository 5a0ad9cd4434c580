"""Keys of a trace: the poses of all bodies that move, few bytes each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.viewing.packet import Blob, pack
from cellwright.viewing.replay import ReplayWorld

__all__ = ["encode_poses", "make_keys"]

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

TRUTH = ("/truth/poses", "/truth/joints")
STEPS_PER_M, QUATERNION_STEPS = 10_000, 32_767
LONGEST = 32_767  # steps of a change
SAME_STEPS = 1  # of a position: what trembles by less has not moved


def make_keys(replay: ReplayWorld, moving: list[int], first_poses: Array, hz: float = 20.0) -> bytes:
    """Returns the keys of a log as a packet.

    A moment without a change has no key, but for the last before something begins to move: so nothing creeps.

    Args:
        replay: The world of the log.
        moving: Bodies of the scene that may move.
        first_poses: Their poses in the scene, n x 7.
        hz: Keys per second at most.
    """
    times = _moments(replay, hz)
    count = len(times)
    poses = np.empty((count, len(moving), 7))
    for number, time_s in enumerate(times):
        poses[number] = body_poses(replay, float(time_s), moving)
    whole = encode_poses(poses, first_poses)
    changed = np.flatnonzero((whole[1:] != whole[:-1]).any(axis=(1, 2))) + 1
    kept = np.unique([0, count - 1, *changed, *(changed - 1)])
    blob = Blob()
    start = blob.add(times[kept].astype(np.float32))
    rows = _deltas(whole[kept])
    columns = []
    for column, body in enumerate(moving):
        if (whole[kept, column] != whole[0, column]).any() or rows[0, column, :3].any():
            columns.append({"body": body, "offset": blob.add(rows[:, column].T.astype(np.int16))})
    return pack("keys", {"hz": hz, "times": start, "count": len(kept), "columns": columns}, blob)


def _moments(replay: ReplayWorld, hz: float) -> Array:
    """Returns the moments at which the log tells where things are, and those before which something stood still."""
    topics = [topic for topic in TRUTH if topic in replay.log.topics]
    told = np.unique([entry.time_ns for entry in replay.log.raw(topics)]) / 1e9
    period_s = float(np.diff(told).min()) if len(told) > 1 else 1 / hz
    ends = [replay.start_s, replay.end_s]
    wanted = np.unique(np.round(np.concatenate([ends, told, told - period_s]), 6))
    wanted = wanted[(wanted >= replay.start_s - 1e-9) & (wanted <= replay.end_s + 1e-9)]
    kept = [wanted[0]]
    for time_s in wanted[1:]:
        if time_s - kept[-1] > 0.9 / hz or time_s == wanted[-1]:
            kept.append(time_s)
    return np.array(kept)


def body_poses(replay: ReplayWorld, time_s: float, moving: list[int]) -> Array:
    """Returns the poses of bodies of the scene at a moment of a log, n x 7."""
    _, data = replay.pose(time_s).appearance.now()
    return np.hstack([data.xpos[moving], data.xquat[moving]])


def encode_poses(poses: Array, first_poses: Array) -> Whole:
    """Returns poses as whole numbers: positions from the first ones in 0.1 mm, quaternions whose sign never jumps.

    What moves by less than a step of a position, and does not turn by more than such a tremble, stays where it was.

    Args:
        poses: Moments x bodies x 7.
        first_poses: Bodies x 7.
    """
    turned = poses[..., 3:].copy()
    before = first_poses[:, 3:]
    for row in turned:
        row[(row * before).sum(axis=1) < 0] *= -1
        before = row
    whole = np.concatenate(
        [
            np.round((poses[..., :3] - first_poses[:, :3]) * STEPS_PER_M),
            np.round(turned * QUATERNION_STEPS),
        ],
        axis=2,
    ).astype(np.int64)
    limit = np.array([SAME_STEPS] * 3 + [3] * 4)
    for now, last in zip(whole[1:], whole[:-1], strict=True):
        still = (np.abs(now - last) < limit).all(axis=1)
        now[still] = last[still]
    return whole


def _deltas(whole: Whole) -> Whole:
    """Returns the changes from key to key, the first from zero; a jump that is too long for one goes on in the next."""
    deltas, at = np.empty_like(whole), np.zeros_like(whole[0])
    for number, wanted in enumerate(whole):
        deltas[number] = np.clip(wanted - at, -LONGEST, LONGEST)
        at = at + deltas[number]
    return deltas
