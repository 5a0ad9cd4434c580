"""Tools that fail: pads without friction, drives without force, pumps without vacuum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.sim import GripperIndex, World
    from cellwright.sim.tool_index import VacuumIndex

__all__ = ["GripChanger", "WeakenedGrip", "tool_of"]

SLIPPERY = 1e-5


@dataclass(frozen=True)
class WeakenedGrip:
    """The strength that is left of a tool.

    Attributes:
        force: Fraction of its force. Its fingers stay as quick as they were: it is weak, not slow. A pump is left with
            that fraction of its vacuum.
        slippery: Whether its pads have lost their friction; a pump then draws nothing at all.
        friction: Fraction of the pads' friction.
    """

    force: float = 1.0
    slippery: bool = False
    friction: float = 1.0

    def with_other(self, other: WeakenedGrip) -> WeakenedGrip:
        """Returns what two faults leave: the less of each."""
        return WeakenedGrip(
            min(self.force, other.force), self.slippery or other.slippery, min(self.friction, other.friction)
        )


def tool_of(world: World, robot: str) -> str:
    """Returns the tool that a robot has now, by the cell's name of it or, for a fixed tool, by the robot's.

    Empty while it has none.
    """
    return "" if world.robots[robot].hand is None else world.mounts.on.get(robot, robot)


class GripChanger:
    """Changes tools in the model, where neither controller nor snapshot looks; so it can do so again at any time.

    A gripper's force is limited at the finger's joint, beside the limit that a controller sets at the drive; a pump's
    vacuum at the adhesion of each cup. What fails is the tool, wherever it is: a robot that changes it is rid of it.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        model = world.model
        self._friction: dict[str, Any] = {
            name: model.geom_friction[list(tool.pads)].copy() for name, tool in self._grippers().items()
        }

    def apply(self, grips: Mapping[str, WeakenedGrip]) -> None:
        """Gives every tool what it is left with; those not named are sound."""
        tools = self._grippers()
        for name, friction in self._friction.items():
            self._change(tools[name], grips.get(name, WeakenedGrip()), friction)
        for name, vacuum in self._world.vacuums.items():
            self._throttle(vacuum, grips.get(name, WeakenedGrip()))

    def _grippers(self) -> dict[str, GripperIndex]:
        """Returns all grippers, also those in holders."""
        world = self._world
        loose = {world.model.body(tool.body).name.partition("/")[0]: tool for tool in _loose(world)}
        return {**{r: i.gripper for r, i in world.robots.items() if i.gripper and r not in world.mounts.on}, **loose}

    def _change(self, tool: GripperIndex, grip: WeakenedGrip, friction: Any) -> None:
        model = self._world.model
        pads, joints = list(tool.pads), model.dof_jntid[tool.dof]
        model.geom_friction[pads] = SLIPPERY if grip.slippery else grip.friction * friction
        limit_n = grip.force * tool.figures.drive_force_n
        model.jnt_actfrclimited[joints] = grip.force < 1
        model.jnt_actfrcrange[joints] = (-limit_n, limit_n)
        tool.set_damping(model)

    def _throttle(self, tool: VacuumIndex, grip: WeakenedGrip) -> None:
        for cup in tool.cups:
            self._world.model.actuator_ctrlrange[cup.suck] = (0.0, 0.0 if grip.slippery else grip.force)


def _loose(world: World) -> list[GripperIndex]:
    from cellwright.sim.index import index_loose_grippers

    return index_loose_grippers(world.model, world.cell)
