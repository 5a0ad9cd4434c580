"""Raw physics against PyBullet in one run: the same scene, the same commands, segments that alternate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import mujoco
import numpy as np

from cellwright.bench.lab_speed import keep_awake
from cellwright.bench.processes import call_in_process
from cellwright.bench.replay import capture, replay
from cellwright.cells import load_cell
from cellwright.core.extras import has_extra
from cellwright.sim import World

__all__ = ["has_peer", "measure_peer", "peer_ratio"]

SETTLE_STEPS = {True: 1500, False: 100}  # to fall asleep takes Bullet two simulated seconds


def has_peer() -> bool:
    """Returns whether PyBullet is installed."""
    return has_extra("pybullet")


def measure_peer(cell_name: str, seed: int, count: int, *, sleep: bool) -> float:
    """Returns our steps per second over the peer's, from a process of its own: PyBullet prints to stdout."""
    return float(call_in_process(__name__, "peer_ratio", cell_name, seed, count, sleep))


def peer_ratio(cell_name: str, seed: int, count: int, sleep: bool) -> float:
    """Replays some seconds of patrol in both engines, by turns; everything is at rest before.

    Args:
        cell_name: The cell.
        seed: Decides its layout.
        count: Number of seconds.
        sleep: Whether bodies at rest may sleep, in both.
    """
    from cellwright.bench.bullet_scene import BulletScene  # an extra: imported where it is used

    cell = load_cell(cell_name)
    segments = capture(cell, seed, count)
    ours = World(cell, seed)
    if not sleep:
        keep_awake(ours)
    ratios = np.empty(count)
    with TemporaryDirectory() as folder:
        peer = BulletScene(ours, Path(folder), sleep=sleep)
        peer.step(ours.data.ctrl, SETTLE_STEPS[sleep])
        for i, segment in enumerate(segments):
            start_s = process_time()
            replay(partial(mujoco.mj_step, ours.model, ours.data), ours.data, segment)
            middle_s = process_time()
            for steps, row in segment:
                peer.step(row, steps)
            ratios[i] = (process_time() - middle_s) / (middle_s - start_s)
        peer.close()
    return float(np.median(ratios))
