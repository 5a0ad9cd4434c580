"""A world posed as it was at any moment of a log: what pictures, video and traces of a run are made of."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, CellwrightError
from cellwright.core.messages import LookTruth
from cellwright.core.pose import Pose
from cellwright.lab.cell_file import read_cell
from cellwright.lab.versions import model_hash
from cellwright.record import Log, read_log
from cellwright.sim import World
from cellwright.viewing.motion_keys import MotionKeys

__all__ = ["GONE_Z_M", "ReplayWorld"]

POSES, JOINTS, LOOKS = "/truth/poses", "/truth/joints", "/truth/looks"
PERIOD_S = 0.05
GONE_Z_M = -2.0  # what is not there lies below the floor: to add and remove bodies would mean new models
NOTED_CELL = "run.cell"  # as it was asked for: a name, a variant, or a file
ASIDE_M = 50.0  # above the world: where objects come into being that the cell itself does not have


class ReplayWorld:
    """The world of a log, as its cell and its seed give it, in the pose of any recorded moment.

    Args:
        log: The log or its file; one that was cut off is replayed as far as it goes.
        cell: The cell, when it is another than the log names: by name, by file or as an object.

    Attributes:
        log: The log.
        cell: The cell.
        world: The world; `pose` changes it.
        look_times: Moments from which something looked otherwise: an LED, a projector, an object that came or went.
        start_s: Time of the first recorded truth.
        end_s: Time of the last message of the log.
        gone: Objects that are not there at the moment that was asked for last (they lie below the floor).

    Raises:
        BadInput: The log was not recorded from this cell, or does not hold what is needed.
    """

    def __init__(self, log: Log | Path | str, cell: Cell | Path | str | None = None) -> None:
        self.log = log if isinstance(log, Log) else read_log(log)
        self._check()
        self.world = self._make_world(cell)
        self.cell = self.world.cell
        self._read_keys()
        for number, (name, model) in enumerate(self._models().items()):
            if name not in self.world.objects:
                self.world.add(name, model, Pose.from_xyz_rpy([0, 0, ASIDE_M + number]))
        # Kinematics leave out what sleeps, and here everything does.
        self.world.model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        self._addresses()
        self.gone: frozenset[str] = frozenset()
        self._look = -1
        self.pose(self.start_s)

    def pose(self, time_s: float) -> World:
        """Poses the world as it was at a moment of the log; before the first and after the last they stay as there."""
        world = self.world
        qpos = world.data.qpos
        qpos[self._pose_addresses] = self._poses.at(time_s)
        qpos[self._joint_addresses] = self._joints.at(time_s)[:, 0]
        self._set_look(max(0, bisect_right(self.look_times, time_s) - 1))
        for name in self.gone:
            qpos[world.objects[name].qpos + 2] = GONE_Z_M
        world.clock.tick = max(0, round(time_s / world.clock.tick_s))
        world.data.time = time_s
        mujoco.mj_kinematics(world.model, world.data)
        mujoco.mj_camlight(world.model, world.data)
        return world

    def _check(self) -> None:
        path, metadata = self.log.path, self.log.metadata
        if not self.log.topics and self.log.problem:
            raise BadInput(f"{path}: nothing of the run is left in it ({self.log.problem}); record it again")
        if "cell" not in metadata or "seed" not in metadata:
            raise BadInput(f"{path} does not name its cell and seed: it was not recorded by a laboratory of Cellwright")
        missing = [topic for topic in (JOINTS, LOOKS) if topic not in self.log.topics]
        if missing:
            raise BadInput(
                f"{path} has no {' and '.join(missing)}, without which it cannot be shown: no time had "
                f"passed, or an older version or only some topics were recorded; record the run again"
            )

    def _make_world(self, cell: Cell | Path | str | None) -> World:
        """Returns the world that was recorded; the log names the cell, not the variant, so those are tried as well."""
        first, seed = self._find_cell(cell)
        world = World(first, seed)
        if self.log.metadata.get("model") == model_hash(world.model):
            return world
        for variant in first.variants if cell is None else ():
            with suppress(CellwrightError):
                other, _ = self._find_cell(f"{self.log.metadata['cell']}@{variant}")
                world = World(other, seed)
                if self.log.metadata.get("model") == model_hash(world.model):
                    return world
        raise BadInput(
            f"{self.log.path}: cell '{first.name}' with seed {seed} is not the one that was recorded; "
            f"give the cell's file as it was then, or record the run again"
        )

    def _find_cell(self, cell: Cell | Path | str | None) -> tuple[Cell, int]:
        metadata = self.log.metadata
        try:
            seed = int(metadata["seed"])
            asked = cell or metadata.get(NOTED_CELL) or metadata["cell"]
            found = asked if isinstance(asked, Cell) else read_cell(asked, seed)
        except ValueError:
            raise BadInput(f"{self.log.path}: '{metadata['seed']}' is not a seed") from None
        except CellwrightError as error:
            remedy = "" if cell else "; give the cell's file as it was in that run: --cell FILE"
            raise BadInput(f"{self.log.path}: its cell cannot be made: {error}{remedy}") from None
        fidelity = metadata.get("fidelity", found.fidelity)
        return found.model_copy(update={"fidelity": fidelity, "settle_s": 0.0}), seed

    def _read_keys(self) -> None:
        self._poses, self._joints = MotionKeys(7), MotionKeys(1)
        self.look_times: list[float] = []
        self._looks: list[LookTruth] = []
        times: list[float] = []
        wanted = [topic for topic in (POSES, JOINTS, LOOKS) if topic in self.log.topics]
        for topic, _, message in self.log.entries(wanted):
            times.append(message.time_s)
            if topic == POSES:
                self._poses.add(message.time_s, message.names, np.hstack([message.positions, message.quaternions]))
            elif topic == JOINTS:
                self._joints.add(message.time_s, message.names, message.positions)
            else:
                self.look_times.append(message.time_s)
                self._looks.append(message)
        gaps = np.diff(np.unique(np.round(times, 9)))
        period_s = float(gaps.min()) if len(gaps) else PERIOD_S
        self._poses.close(period_s)
        self._joints.close(period_s)
        self.start_s, self.end_s = times[0], self.log.span_ns[1] / 1e9

    def _models(self) -> dict[str, str]:
        """Returns the catalogue model of every object that was there at any time."""
        return {name: model for look in self._looks for name, model in zip(look.objects, look.models, strict=True)}

    def _addresses(self) -> None:
        model = self.world.model
        try:
            firsts = [int(model.joint(name).qposadr[0]) for name in self._poses.names]
            joints = [int(model.joint(name).qposadr[0]) for name in self._joints.names]
        except KeyError as error:
            raise BadInput(f"{self.log.path} tells of what cell '{self.cell.name}' does not have: {error}") from None
        self._pose_addresses = np.array(firsts, dtype=np.intp)[:, None] + np.arange(7)
        self._joint_addresses = np.array(joints, dtype=np.intp)

    def _set_look(self, number: int) -> None:
        if number == self._look:
            return
        self._look = number
        look, world = self._looks[number], self.world
        self.gone = frozenset(world.objects) - set(look.objects)
        world.projectors.on = {name: name in look.projectors for name in world.projectors.on}
        world.leds.show(look.lamps)
