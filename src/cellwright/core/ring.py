"""The kinematic ring: world -> robot base -> flange -> tool -> part as one chain.

A program is written in world coordinates; where the base stands and which tool is mounted are one transform
each. Moving a base or changing a tool changes that transform and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cellwright.core.pose import Pose

__all__ = ["KinematicRing"]


@dataclass(frozen=True)
class KinematicRing:
    """The fixed transforms of one robot's chain; the arm itself contributes the flange's pose in the base."""

    pose_base_in_world: Pose
    pose_tool_in_flange: Pose = field(default_factory=Pose.identity)
    pose_part_in_tool: Pose = field(default_factory=Pose.identity)

    def tool_in_world(self, pose_flange_in_base: Pose) -> Pose:
        """Returns the pose of the tool's centre point for a flange pose."""
        return self.pose_base_in_world @ pose_flange_in_base @ self.pose_tool_in_flange

    def part_in_world(self, pose_flange_in_base: Pose) -> Pose:
        """Returns the pose of a held part for a flange pose."""
        return self.tool_in_world(pose_flange_in_base) @ self.pose_part_in_tool

    def flange_for_tool(self, pose_tool_in_world: Pose) -> Pose:
        """Returns the flange pose, in the base, that brings the tool's centre point to the given world pose."""
        return self.pose_base_in_world.inverse() @ pose_tool_in_world @ self.pose_tool_in_flange.inverse()

    def flange_for_part(self, pose_part_in_world: Pose) -> Pose:
        """Returns the flange pose, in the base, that brings a held part to the given world pose."""
        return self.flange_for_tool(pose_part_in_world @ self.pose_part_in_tool.inverse())

    def with_base(self, pose_base_in_world: Pose) -> KinematicRing:
        """Returns the ring of a robot that was moved."""
        return replace(self, pose_base_in_world=pose_base_in_world)

    def with_tool(self, pose_tool_in_flange: Pose) -> KinematicRing:
        """Returns the ring with another tool, which holds nothing yet."""
        return replace(self, pose_tool_in_flange=pose_tool_in_flange, pose_part_in_tool=Pose.identity())

    def holding(self, pose_part_in_tool: Pose) -> KinematicRing:
        """Returns the ring with a part in the tool."""
        return replace(self, pose_part_in_tool=pose_part_in_tool)
