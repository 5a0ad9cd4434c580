"""How the robots of a cell are offered to controllers from outside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cellwright.cells.fields import PoseCfg
from cellwright.core.config import Cfg

__all__ = ["CrclCfg", "LabFrameCfg"]


Direction = Literal["world", "tool"]


def _wrist() -> dict[str, Direction]:
    return {"wrist": "world"}


class LabFrameCfg(Cfg):
    """Coordinates of a real laboratory's programs: where their origin is in the robot's base, and of which point."""

    pose: PoseCfg
    point: Literal["tool", "flange"] = "tool"


class CrclCfg(Cfg):
    """A robot's CRCL door.

    Attributes:
        port: Where its server listens; 0 is any free port.
        force_sensors: Names of the sensor at its wrist, with the direction that they report: the force of the `world`
            on the tool, or that of the `tool` on the world.
        lab: The frame of profile `aprs-lab`; the base and the tool's centre point where nothing is said.
    """

    port: Annotated[int, Field(ge=0, le=65535)] = 0
    force_sensors: dict[str, Direction] = Field(default_factory=_wrist)
    lab: LabFrameCfg | None = None
