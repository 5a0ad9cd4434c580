"""The state that predicates are evaluated on: without missing parts, with held parts that no detector sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cellwright.catalogue import part_grasp
from cellwright.execution.grasps import gripper_figures, hanging
from cellwright.execution.predicates import BelievedState, PoseEstimate, ToolState
from cellwright.execution.trays import CARRIED, hold_of
from cellwright.execution.view import CellView
from cellwright.orders import KitDesign

__all__ = ["ExecutorBelief"]

OUT_OF_SIGHT_S = 0.6  # a part that detectors look at is seen every tenth of a second, a little later
WIDTH_M = 0.0025  # by which fingers on a part may stand otherwise than its drawing says


class ExecutorBelief(BelievedState):
    """Belief without objects that were found missing.

    Args:
        view: Knows what is gone.
        now_s: The cell's clock.
        report: Robot -> the last report of its tool.
        designs: Kit -> what it shall become, which need not be what the drawings say of its tray.
    """

    def __init__(
        self,
        view: CellView,
        now_s: Callable[[], float],
        report: Callable[[str], ToolState | None],
        designs: Mapping[str, KitDesign],
    ) -> None:
        self._view, self._designs = view, designs
        super().__init__(view.belief, now_s, report)

    def names(self) -> Iterable[str]:
        """Returns all solid objects that are not missing."""
        return [name for name in super().names() if not self._view.is_gone(name)]

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns SKU -> number of parts in the design of a kit."""
        return self._designs[kit].parts if kit in self._designs else super().wanted(kit)

    def estimate(self, name: str) -> PoseEstimate | None:
        """Returns the pose of an object; None if it is missing; by its hand's pose when it was carried out of sight."""
        if self._view.is_gone(name):
            return None
        seen = super().estimate(name)
        if seen is None or seen.seen_s is None or self.now_s - seen.seen_s <= OUT_OF_SIGHT_S:
            return seen
        return self._pose_by_touch(name) or seen

    def _pose_by_touch(self, name: str) -> PoseEstimate | None:
        """Returns the pose of a part that is not seen but still fills the fingers that took it."""
        facts = self._view.facts
        tool = self.tool(next((tool for tool, part in facts.held.items() if part == name), ""))
        if tool is None or not tool.holding:
            return None
        if facts.things[name].kind in CARRIED:
            return self._hanging(name, tool)
        part = self._view.part(name)
        if abs(tool.width_m - part_grasp(part.figures, gripper_figures(tool.model)).width_m) > WIDTH_M:
            return None
        spread = tool.sd_m**2
        pose = hanging(tool.pose_tool_in_world, part, tool.model)
        return PoseEstimate(pose, (spread, spread, spread, 0.0), tool.time_s, tool.robot)

    def _hanging(self, name: str, tool: ToolState) -> PoseEstimate | None:
        """Returns the pose of a kit tray or a kit that hangs from cups."""
        view = self._view
        hold = hold_of(view.facts.things[view.detected_as(name)].sku, tool.model)
        if hold is None:
            return None
        spread = tool.sd_m**2
        pose = hold.hanging(tool.pose_tool_in_world, view.pose(name))
        return PoseEstimate(pose, (spread, spread, spread, 0.0), tool.time_s, tool.robot)
