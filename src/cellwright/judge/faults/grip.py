"""Grippers that fail: pads without friction, drives without force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.sim import World

__all__ = ["Grip", "GripChanger"]

SLIPPERY = 1e-5


@dataclass(frozen=True)
class Grip:
    """What a gripper is left with.

    Attributes:
        force: Fraction of its force. Its fingers stay as quick as they were: it is weak, not slow.
        slippery: Whether its pads have lost their friction.
    """

    force: float = 1.0
    slippery: bool = False


class GripChanger:
    """Changes grippers in the model, where neither controller nor snapshot looks; so it can do so again at any time.

    The drive's force is limited at the finger's joint, beside the limit that a controller sets at the drive.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        model = world.model
        self._sound: dict[str, tuple[Any, Any]] = {
            name: (model.geom_friction[list(robot.tool.pad_geoms)].copy(), model.dof_damping[robot.tool.dof].copy())
            for name, robot in world.robots.items()
            if robot.tool
        }

    def apply(self, grips: Mapping[str, Grip]) -> None:
        """Gives every gripper what it is left with; those not named are sound."""
        model = self._world.model
        for name, (friction, damping) in self._sound.items():
            tool, grip = self._world.robots[name].tool, grips.get(name, Grip())
            assert tool is not None
            pads, joints = list(tool.pad_geoms), model.dof_jntid[tool.dof]
            model.geom_friction[pads] = SLIPPERY if grip.slippery else friction
            model.dof_damping[tool.dof] = damping * grip.force
            limit_n = grip.force * tool.figures.drive_force_n
            model.jnt_actfrclimited[joints] = grip.force < 1
            model.jnt_actfrcrange[joints] = (-limit_n, limit_n)
