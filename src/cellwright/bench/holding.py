"""Friction against its theory: a gripper in mid air that holds a gear by its peg."""

from __future__ import annotations

from typing import Any

import mujoco

from cellwright.catalogue import PARTS, TOOLS, GearFigures, GripperFigures
from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.models import build
from cellwright.models.contact_settings import PAD
from cellwright.sim.physics import apply_options

__all__ = ["DROP_M", "SLIP_M", "HeldGear", "creep_um_per_s", "limit_force_n"]

TIMESTEP_S = 0.002
HEIGHT_M = 1.0
GRASP_S = 0.5
WATCH_S = 1.0
SLIP_M = 0.0001  # so far in a second it slips: some twenty times the creep of a gear that is held
DROP_M = 0.005  # so far in a second it drops
BISECTIONS = 12


class HeldGear:
    """One grasp; the same model, settings and control as in a cell, without the arm.

    Attributes:
        theory_force_n: The force that each finger needs, by Coulomb: the weight over twice the friction.
    """

    def __init__(self, gripper: str = "aprs_fanuc_gripper", gear: str = "medium_gear") -> None:
        tool, part = TOOLS.get(gripper), PARTS.get(gear)
        assert isinstance(tool, GripperFigures)
        assert isinstance(part, GearFigures)
        self.model = _compile(tool, part)
        self.theory_force_n = part.mass_kg * GRAVITY_MPS2 / (2 * PAD.friction[0])
        self._grip = self.model.actuator("tool/grip").id
        self._command = tool.closed_m
        self._rated_n = tool.grip_force_n
        self._height = int(self.model.joint("gear").qposadr[0]) + 2

    def grasp(self) -> Any:
        """Closes at the rated force, the gear held up until the pads have come to rest on it."""
        data = mujoco.MjData(self.model)
        self._press(self._rated_n)
        data.ctrl[self._grip] = self._command
        self.model.opt.gravity[2] = 0.0
        mujoco.mj_step(self.model, data, round(GRASP_S / TIMESTEP_S))
        self.model.opt.gravity[2] = -GRAVITY_MPS2
        mujoco.mj_step(self.model, data, round(GRASP_S / TIMESTEP_S))
        return data

    def sinking_m(self, duration_s: float, force_n: float | None = None) -> float:
        """Returns the distance that the gear sinks under that force of each finger, by default the rated one."""
        data = self.grasp()
        start_m = float(data.qpos[self._height])
        self._press(self._rated_n if force_n is None else force_n)
        mujoco.mj_step(self.model, data, round(duration_s / TIMESTEP_S))
        return start_m - float(data.qpos[self._height])

    def _press(self, force_n: float) -> None:
        self.model.actuator_forcerange[self._grip] = (-2 * force_n, 2 * force_n)  # one drive, two fingers


def limit_force_n(held: HeldGear, distance_m: float) -> float:
    """Returns the force of each finger below which the gear sinks farther than that in a second.

    By bisection between half and twice the theory. Just below the theory the gear slips without dropping at once:
    in the simulation, slipping pushes the pads apart a little, and the drive's damping resists that.
    """
    low_n, high_n = held.theory_force_n / 2, held.theory_force_n * 2
    for _ in range(BISECTIONS):
        middle_n = (low_n + high_n) / 2
        if held.sinking_m(WATCH_S, middle_n) > distance_m:
            low_n = middle_n
        else:
            high_n = middle_n
    return (low_n + high_n) / 2


def creep_um_per_s(held: HeldGear, duration_s: float = 5.0) -> float:
    """Returns the creep speed of a gear in fingers that hold it with the rated force."""
    return abs(held.sinking_m(duration_s)) / duration_s * 1e6


def _compile(tool: GripperFigures, gear: GearFigures) -> Any:
    spec = mujoco.MjSpec()
    apply_options(spec, TIMESTEP_S, sleep=False)
    hand = spec.worldbody.add_frame(pos=[0.0, 0.0, HEIGHT_M], quat=[0.0, 1.0, 0.0, 0.0])  # pointing at the floor
    hand.attach_body(build(tool).body("tool"), "tool/", "")
    x, y, z = tool.tcp_xyz_m
    place = spec.worldbody.add_frame(pos=[x, -y, HEIGHT_M - z - gear.grasp_height_m])
    body = place.attach_body(build(gear).body("part"), "gear/", "")
    body.add_freejoint(name="gear")
    return spec.compile()
