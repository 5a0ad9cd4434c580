"""`cellwright bench hybrid`: how closely a twin follows an external robot, the time of a switch, and pace."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions, MeasurementFailed
from cellwright.cells import CellTargetsCfg
from cellwright.core.errors import CellwrightError
from cellwright.crcl import CrclClient
from cellwright.crcl.messages import InitCanon, MoveTo, Point, Pose, SetTransSpeed, TransSpeedAbsolute, Vector
from cellwright.experiments.real_cell import RealCell
from cellwright.hybrid import LabTargets
from cellwright.interfaces import CrclInterface
from cellwright.lab import Lab
from cellwright.record import compare_twins, read_log

__all__ = ["hybrid"]

CELL, REAL, ROBOT = "aprs", "aprs@calibrated", "fanuc"
MOVES, QUICK_MOVES = 30, 6
SWITCHES, QUICK_SWITCHES = 10, 2
MIDDLE_M, WAY_M, SPEED_MPS = (0.40, 0.0, 0.35), (0.08, 0.15, 0.08), 0.4
DOWN = Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0)
TARGETS: Mapping[str, Mapping[str, float]] = {
    "follow.lag_ms_p95": {"max": 100},
    "switch.s": {"max": 1.0},
    "pace.slip": {"max": 0.05},
}


@BENCHES.register("hybrid")
def hybrid(conditions: MeasurementConditions) -> Measurement:
    """Measures a twin that follows the robot of a second process in real time, and switches there and back.

    `follow.lag_ms_p95` is by how much the twin is later where the robot was, in stretches of a second of motion;
    `follow.error_rad_p95` how far its joints are from those reported, at the same time; `switch.s` the median wall time
    of a switch, and `pace.slip` the share of wall time that slips.
    """
    moves = QUICK_MOVES if conditions.quick else MOVES
    switches = QUICK_SWITCHES if conditions.quick else SWITCHES
    conditions.say(f"{moves} motions and {2 * switches} switches in real time")
    with RealCell(REAL, 7) as real, TemporaryDirectory() as folder, Lab.from_cell(CELL, 1, pace=1.0) as lab:
        recorder = lab.record(Path(folder) / "log.mcap")
        targets = LabTargets(lab, CellTargetsCfg.model_validate({"robots": {ROBOT: real.crcl[ROBOT]}}))
        crcl = CrclInterface(lab, stand_in=targets.stand_in)

        async def work() -> list[float]:
            async with targets:
                async with CrclClient(lambda: crcl.connect(ROBOT)) as client:
                    await _move(client, moves, conditions.seed)
                taken_s = []
                for _ in range(switches):
                    for to in ("simulated", real.crcl[ROBOT]):
                        begin_s = time.perf_counter()
                        await targets.switch(ROBOT, to)
                        taken_s.append(time.perf_counter() - begin_s)
                await crcl.close()
                return taken_s

        try:
            taken_s = lab.perform(work())
        except CellwrightError as error:
            raise MeasurementFailed("hybrid", str(error)) from None
        slip, status = targets.gate.slip_of_all, targets.gate.held_s
        recorder.close()
        (twin,) = compare_twins(read_log(Path(folder) / "log.mcap"))
    if twin.lag_s_p50 is None or twin.lag_s_p95 is None or twin.joint_rad_p95 is None:
        raise MeasurementFailed("hybrid", "the external robot did not move")
    metrics = {
        "follow.lag_ms_p50": 1000 * twin.lag_s_p50,
        "follow.lag_ms_p95": 1000 * twin.lag_s_p95,
        "follow.error_rad_p95": twin.joint_rad_p95,
        "switch.s": float(np.median(taken_s)),
        "switch.s_max": max(taken_s),
        "pace.slip": slip,
        "pace.held_s": status,
    }
    return Measurement(metrics, TARGETS)


async def _move(client: CrclClient, moves: int, seed: int) -> None:
    """Has a robot move to places about the middle of its table."""
    random = np.random.default_rng(seed)
    (await client.execute(InitCanon(0))).check()
    (await client.execute(SetTransSpeed(0, TransSpeedAbsolute(SPEED_MPS)))).check()
    for _ in range(moves):
        x, y, z = (np.array(MIDDLE_M) + np.array(WAY_M) * random.uniform(-1.0, 1.0, 3)).tolist()
        (await client.execute(MoveTo(0, False, Pose(Point(x, y, z), *DOWN)))).check()
