"""A part or a tray that slips out of the hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from cellwright.core.config import draw
from cellwright.core.errors import UnknownName
from cellwright.judge.faults.cfg import FaultCfg, Way, matches_name
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.faults.grip import WeakenedGrip, tool_of
from cellwright.judge.faults.trays import carried_trays

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["DropCfg", "DropFault"]

SLIPPED_M = 0.050
SLIP_LIMIT_S = 2.0


class DropCfg(FaultCfg):
    """A held part or tray slips out of the hand.

    Attributes:
        way_mm: The distance that it has come sideways by then.
    """

    kind: Literal["drop"] = "drop"
    way_mm: Way = 20.0

    @model_validator(mode="after")
    def _while_held(self) -> Self:
        if self.during is None and self.at is None:
            raise ValueError("a part can only be dropped while it is carried: say during=transfer:N or at=SECONDS")
        return self


class DropFault(Fault[DropCfg]):
    """The pads lose their friction and most of their force, or the pump its vacuum, until the thing has slipped out."""

    Cfg = DropCfg
    applies_to = ("object", "hand")
    needs_physics = True

    @classmethod
    def check(cls, cfg: DropCfg, world: World) -> None:
        """Refuses a tray that no tool carries."""
        if cfg.tray is not None and not carried_trays(world, cfg):
            known = carried_trays(world, cfg.model_copy(update={"tray": "*"}))
            raise UnknownName("tray that a tool carries", cfg.tray, known, f"fault {cfg.kind}")

    def draw_values(self) -> None:
        """Draws the way that it comes."""
        self._way_m = draw(self.cfg.way_mm, self.rng) / 1000

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when the part is far enough on its way."""
        for robot, hold in self.hand_monitor.held.items():
            wanted = (
                hold.part == fault_state.subject
                if fault_state.subject
                else self.cfg.is_about(self.world.objects[hold.part])
            )
            if wanted and matches_name(robot, self.cfg.robot) and hold.carried and hold.way_m >= self._way_m:
                fault_state.subject, fault_state.robot, fault_state.tool = hold.part, robot, tool_of(self.world, robot)
                fault_state.grip = WeakenedGrip(0.1, slippery=True)
                height_m = self.world.pose_of(hold.part).position[2]
                return f"slips out of {robot}'s hand after {hold.way_m * 1000:.0f} mm, at a height of {height_m:.3f} m"
        return None

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until the part has left the hand."""
        if (
            fault_state.subject not in self.world.objects
            or self.world.clock.time_s - fault_state.start_s > SLIP_LIMIT_S
        ):
            return False
        is_held = self.hand_monitor.holds(fault_state.subject)
        return is_held or self.hand_monitor.distance_m(fault_state.subject) < SLIPPED_M
