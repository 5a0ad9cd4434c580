"""A suction cup on a carriage over a disc: its breaking load, measured by lifting."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import VacuumFigures
from cellwright.models import build
from cellwright.models.contact_settings import PLASTIC, make_collision
from cellwright.sim.physics import apply_options
from cellwright.sim.suction import draw
from cellwright.sim.tool_index import index_vacuum

__all__ = ["CupRig", "break_load_kg"]

STEP_S = 0.002
LOOK = 2  # steps between two looks at the seal, as in a laboratory
PRESS_M = 0.0015
FALL_M = 0.02
BRAKE_MPS2 = 1.0
DISC_M = 0.005


class CupRig:
    """A carriage that presses the cup onto a disc on a table, draws, and lifts.

    Args:
        figures: The cup.
        mass_kg: Of the disc.
        radius_m: Of the disc; by default a little more than the cup's.
        offset_m: Distance of the disc's middle from the cup's axis.

    Attributes:
        power: Of the pump, 0 to 1.
    """

    def __init__(
        self, figures: VacuumFigures, mass_kg: float, *, radius_m: float | None = None, offset_m: float = 0.0
    ) -> None:
        radius = figures.array_radius_m + figures.cup_diameter_m / 2 + 0.01 if radius_m is None else radius_m
        self.model = _compile(figures, mass_kg, radius, offset_m)
        self.data = mujoco.MjData(self.model)
        self._cup = index_vacuum(self.model, "tool", figures)
        self._disc = self.model.body("disc").id
        self._drive = int(self.model.actuator_ctrladr[self.model.actuator("drive").id])
        self.power = 0.0
        self._steps = 0
        self._height_m = 0.0
        self._speed_mps = 0.0
        mujoco.mj_forward(self.model, self.data)
        self.start_m = self.height_m

    @property
    def height_m(self) -> float:
        """The height of the disc."""
        return float(self.data.xpos[self._disc][2])

    @property
    def holds(self) -> bool:
        """Whether there is a vacuum, and the disc is at the cup."""
        lip_m = float(self.data.site_xpos[self._cup.tcp_site][2])
        return bool(self._cup.level(self.data) > 0.5 and abs(lip_m - self.height_m) < FALL_M)

    def take(self) -> bool:
        """Presses on the disc and runs the pump; returns whether it holds."""
        self._move(-PRESS_M, 0.3)
        self.power = 1.0
        self.wait(0.4)
        return self.holds

    def lift(self, acceleration_mps2: float, duration_s: float = 0.8) -> None:
        """Lifts with that acceleration, which begins softly."""
        for _ in range(round(duration_s / STEP_S)):
            share = min(1.0, self._speed_mps / 0.02 + 0.2)
            self._speed_mps = min(self._speed_mps + share * acceleration_mps2 * STEP_S, 0.6)
            self._height_m += self._speed_mps * STEP_S
            self._step()
        while self._speed_mps > 0.0:
            self._speed_mps = max(0.0, self._speed_mps - BRAKE_MPS2 * STEP_S)
            self._height_m += self._speed_mps * STEP_S
            self._step()
        self.wait(0.1)
        self.lifted_m = self.height_m

    def pull(self, beside_m: float, force_n: float) -> None:
        """Applies a downward force to the disc, beside its middle."""
        self.data.xfrc_applied[self._disc] = [0.0, 0.0, -force_n, 0.0, beside_m * force_n, 0.0]

    def wait(self, duration_s: float) -> None:
        """Lets time pass."""
        for _ in range(round(duration_s / STEP_S)):
            self._step()

    def _move(self, goal_m: float, duration_s: float) -> None:
        start_m, count = self._height_m, round(duration_s / STEP_S)
        for k in range(count):
            self._height_m = start_m + (goal_m - start_m) * (k + 1) / count
            self._step()

    def _step(self) -> None:
        data = self.data
        data.ctrl[self._drive] = -self._height_m
        if self._steps % LOOK == 0:
            data.ctrl[self._cup.power] = self.power
            draw(self.model, data, self._cup)
        mujoco.mj_step(self.model, data)
        self._steps += 1


def break_load_kg(figures: VacuumFigures, acceleration_mps2: float, steps: int = 8) -> float:
    """Returns the heaviest disc that stays on the cup while it is lifted so, by halving."""
    low, high = 0.2 * figures.load_kg, 2.0 * figures.load_kg
    for _ in range(steps):
        middle = (low + high) / 2
        rig = CupRig(figures, middle)
        rig.take()
        rig.lift(acceleration_mps2)
        low, high = (middle, high) if rig.holds else (low, middle)
    return (low + high) / 2


def _compile(figures: VacuumFigures, mass_kg: float, radius_m: float, offset_m: float) -> Any:
    """Returns a carriage that runs up and down, its drive far stronger than any cup; the tool looks down."""
    spec = mujoco.MjSpec()
    apply_options(spec, STEP_S, sleep=False)
    tip_m = figures.tcp_xyz_m[2]
    carriage = spec.worldbody.add_body(name="carriage", pos=[0, 0, 0.5 + tip_m], quat=[0, 1, 0, 0], gravcomp=1.0)
    carriage.mass, carriage.inertia, carriage.explicitinertial = 10.0, [0.1] * 3, True
    carriage.add_joint(name="carriage", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    drive = spec.add_actuator(name="drive", target="carriage", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    drive.set_to_position(kp=1e6, kv=6e3)
    carriage.add_frame().attach_body(build(figures).body("tool"), "tool/", "")
    disc = spec.worldbody.add_body(name="disc", pos=[offset_m, 0, 0.5 - DISC_M / 2])
    solid = disc.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[radius_m, DISC_M / 2, 0], mass=mass_kg)
    make_collision(solid, PLASTIC)
    disc.add_freejoint(name="disc")
    table = spec.worldbody.add_body(name="table", pos=[0, 0, 0.5 - DISC_M - 0.01])
    make_collision(table.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=np.array([0.3, 0.3, 0.01])), PLASTIC)
    return spec.compile()
