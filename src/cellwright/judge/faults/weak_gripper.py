"""A gripper without force, a pump without vacuum."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cellwright.judge.faults.cfg import LastingFaultCfg, matches_name
from cellwright.judge.faults.fault import LastingFault
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.faults.grip import WeakenedGrip, tool_of

__all__ = ["WeakGripperCfg", "WeakGripperFault"]


class WeakGripperCfg(LastingFaultCfg):
    """A gripper presses, or a vacuum tool draws, with a fraction of its force, for a while or for good.

    Attributes:
        factor: The fraction.
        friction: The fraction of the pads' friction that is left, as when they are oily.
    """

    kind: Literal["weak_gripper"] = "weak_gripper"
    factor: Annotated[float, Field(gt=0, le=1)] = 0.03
    friction: Annotated[float, Field(gt=0, le=1)] = 1.0


class WeakGripperFault(LastingFault[WeakGripperCfg]):
    """Less force, or less vacuum, of the tool that the robot has, from the event on."""

    Cfg = WeakGripperCfg
    applies_to = ("hand",)
    needs_physics = True

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins at once, or when a robot has a tool."""
        fault_state.robot = fault_state.robot or self._any_robot()
        if not fault_state.robot or not (tool := tool_of(self.world, fault_state.robot)):
            return None
        fault_state.subject, fault_state.tool = fault_state.robot, tool
        fault_state.grip = WeakenedGrip(self.cfg.factor, friction=self.cfg.friction)
        how = "grips" if self.world.robots[fault_state.robot].gripper else "draws"
        what = "force" if how == "grips" else "vacuum"
        oily = f" and {self.cfg.friction:g} of its friction" if self.cfg.friction < 1 and how == "grips" else ""
        return f"{how} with {self.cfg.factor:g} of its {what}{oily} {self.cfg.duration_text}"

    def _any_robot(self) -> str:
        robots = sorted(n for n, r in self.world.robots.items() if r.hand and matches_name(n, self.cfg.robot))
        return robots[int(self.rng.integers(len(robots)))] if robots else ""
