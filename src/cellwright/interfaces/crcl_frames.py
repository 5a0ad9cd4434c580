"""Frame, controlled point and force sensors of an arm over CRCL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cellwright.core.messages import Wrench
from cellwright.core.pose import Pose
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
    """

    pose_frame_in_base: Pose = field(default_factory=Pose.identity)
    at_flange: bool = False
    force_sensors: Mapping[str, bool] = field(default_factory=lambda: {"wrist": False})

    def forces(self, felt: Wrench) -> dict[str, SensorReading]:
        """Returns the reading of the sensor at its wrist, under all its names."""
        wrench = (*felt.force.tolist(), *felt.torque.tolist())
        return {
            name: SensorReading(
                tuple(-number for number in wrench) if reversed_ else wrench, felt.sequence + 1, felt.time_s
            )
            for name, reversed_ in self.force_sensors.items()
        }
