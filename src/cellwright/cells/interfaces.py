"""The interfaces of a cell's robots for external controllers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cellwright.cells.fields import PoseCfg
from cellwright.core.config import Cfg
from cellwright.core.registration_points import OffsetsCfg

__all__ = ["CrclCfg", "LabFrameCfg", "RosCfg", "VisionCfg"]


Direction = Literal["world", "tool"]
Port = Annotated[int, Field(ge=0, le=65535)]
RosName = Annotated[str, Field(pattern=r"^(/[A-Za-z]\w*)+$")]


def _wrist() -> dict[str, Direction]:
    return {"wrist": "world"}


class LabFrameCfg(Cfg):
    """Coordinates of a real laboratory's programs.

    Attributes:
        pose: Their frame in the robot's base.
        point: The point whose coordinates they are: the tool's centre point, or the flange.
    """

    pose: PoseCfg
    point: Literal["tool", "flange"] = "tool"


class CrclCfg(Cfg):
    """A robot's CRCL server.

    Attributes:
        port: The server's port; 0 is any free port.
        force_sensors: Names of the sensor at its wrist, with the direction that they report: the force of the `world`
            on the tool, or that of the `tool` on the world.
        lab: The frame of profile `aprs-lab`; the base and the tool's centre point where nothing is said.
        offsets: Errors of the real robot: offsets, in the frame of its poses, that correct what it reports. The
            simulated one reports, and goes to, poses that are off by their inverse.
    """

    port: Port = 0
    force_sensors: dict[str, Direction] = Field(default_factory=_wrist)
    lab: LabFrameCfg | None = None
    offsets: OffsetsCfg | None = None

    @model_validator(mode="after")
    def _in_own_frame(self) -> Self:
        if self.offsets is not None and self.offsets.robot is not None:
            raise ValueError("offsets of a robot are in the frame of its own poses: leave 'robot' away")
        return self


class RosCfg(Cfg):
    """The cell as ROS programs see it.

    Attributes:
        names: Other names of topics, as programs that exist already have them -> the topics' own names. Both can be
            used.
    """

    names: dict[RosName, RosName] = Field(default_factory=dict)


class VisionCfg(Cfg):
    """A robot's vision server: a socket on which a detector sends what it sees, in the robot's coordinates.

    Attributes:
        detector: The sensor whose detections are sent.
        port: The server's port; 0 is any free port.
        rotation: The unit of angles that are sent.
        groups: SKU -> how many groups of it every frame has, empty ones where less is seen; without it, a frame has
            what is seen.
    """

    detector: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
    port: Port = 0
    rotation: Literal["radian", "degree"] = "radian"
    groups: dict[str, Annotated[int, Field(ge=1, le=100)]] = Field(default_factory=dict)
