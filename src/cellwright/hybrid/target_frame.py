"""The frame in which an external robot speaks of poses, and the point whose poses they are."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.cells import RobotTargetCfg
from cellwright.core.pose import Pose

__all__ = ["TargetFrame"]


@dataclass(frozen=True)
class TargetFrame:
    """Converts poses of a tool between the base of the drawings and what an external robot speaks of.

    Attributes:
        pose_frame_in_base: The frame of its poses.
        at_flange: Whether they are those of its flange, and not of the tool's centre point.
    """

    pose_frame_in_base: Pose
    at_flange: bool

    @classmethod
    def of(cls, cfg: RobotTargetCfg) -> TargetFrame:
        """Returns the frame that a target names."""
        return cls(cfg.frame.pose, cfg.point == "flange")

    def told(self, pose_tool_in_base: Pose, pose_tool_in_flange: Pose) -> Pose:
        """Returns a pose of the tool as the external robot is told it."""
        point = pose_tool_in_base @ pose_tool_in_flange.inverse() if self.at_flange else pose_tool_in_base
        return self.pose_frame_in_base.inverse() @ point

    def heard(self, pose_in_frame: Pose, pose_tool_in_flange: Pose) -> Pose:
        """Returns the pose of the tool in the base, of one that the external robot has reported."""
        point = self.pose_frame_in_base @ pose_in_frame
        return point @ pose_tool_in_flange if self.at_flange else point
