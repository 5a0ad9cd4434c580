"""Frame, controlled point and force sensors of an arm over CRCL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cellwright.core.messages import Wrench
from cellwright.core.pose import Pose
from cellwright.core.pose_offsets import PoseOffsets
from cellwright.crcl import SensorReading

__all__ = ["CrclArmFrame"]


@dataclass(frozen=True)
class CrclArmFrame:
    """Frame, controlled point and force sensors of an arm over CRCL.

    Attributes:
        pose_frame_in_base: The frame of its poses: its base, or where its maker puts the origin.
        at_flange: Whether the controlled point is the flange and not the tool's centre point.
        force_sensors: Names of the sensor at its wrist, and whether a name has it reversed: as the
            force of the tool on the world, not of the world on the tool.
        offsets: Errors of its poses, in their frame: what corrects a reported pose, if it needs any correction.
    """

    pose_frame_in_base: Pose = field(default_factory=Pose.identity)
    at_flange: bool = False
    force_sensors: Mapping[str, bool] = field(default_factory=lambda: {"wrist": False})
    offsets: PoseOffsets | None = None

    def commanded(self, pose_in_frame: Pose) -> Pose:
        """Returns the pose in the robot's base to which a commanded one brings it."""
        return self.pose_frame_in_base @ (self.offsets.corrected(pose_in_frame) if self.offsets else pose_in_frame)

    def reported(self, pose_in_frame: Pose) -> Pose:
        """Returns what is reported of a true pose, both in the frame of its poses: the inverse of what corrects it."""
        return self.offsets.reported(pose_in_frame) if self.offsets else pose_in_frame

    def forces(self, felt: Wrench) -> dict[str, SensorReading]:
        """Returns the reading of the sensor at its wrist, under all its names."""
        wrench = (*felt.force.tolist(), *felt.torque.tolist())
        return {
            name: SensorReading(
                tuple(-number for number in wrench) if reversed_ else wrench, felt.sequence + 1, felt.time_s
            )
            for name, reversed_ in self.force_sensors.items()
        }
