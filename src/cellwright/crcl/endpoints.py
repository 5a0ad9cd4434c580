"""The endpoints of the robots of a configuration: simulated, or at an address; polling and tolerances of each."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from cellwright.core.config import Cfg
from cellwright.core.errors import BadInput
from cellwright.crcl.connection import parse_address
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.position_difference import PositionTolerance

__all__ = ["SIMULATED", "EndpointCfg", "TargetAddress", "TargetsCfg"]

SIMULATED = "simulated"


def _checked(at: str) -> str:
    if at != SIMULATED:
        try:
            parse_address(at)
        except BadInput as error:
            raise ValueError(f"{error}, or '{SIMULATED}'") from None
    return at


TargetAddress = Annotated[str, AfterValidator(_checked)]
"""`simulated`, or HOST:PORT."""


class EndpointCfg(Cfg):
    """One robot: `simulated`, or the HOST:PORT of its CRCL server, and how it is asked.

    Attributes:
        at: Where it is.
        poll_s: Between two questions for its status.
        reconnect_s: How long a lost connection is tried again.
        stalled_s: A server that says nothing for so long has stalled, and what it was doing is lost.
        tolerance_mm: How far its tool may be from that of the robot which it takes over from; null: not compared.
        tolerance_deg: By which angle the tools may differ.
        joint_tolerance_deg: By which angle each joint may differ; null for robots of different build.
    """

    at: TargetAddress = SIMULATED
    poll_s: float = Field(0.05, ge=0.001, le=10.0)
    reconnect_s: float = Field(10.0, ge=0.0, le=3600.0)
    stalled_s: float = Field(2.0, ge=0.01, le=600.0)
    tolerance_mm: float | None = Field(5.0, ge=0.0)
    tolerance_deg: float | None = Field(1.0, ge=0.0)
    joint_tolerance_deg: float | None = Field(1.0, ge=0.0)

    @property
    def client_options(self) -> ClientOptions:
        """The options of a client of it."""
        return ClientOptions(poll_s=self.poll_s, reconnect_s=self.reconnect_s, status_s=self.stalled_s)

    @property
    def position_tolerance(self) -> PositionTolerance:
        """The position tolerance within which it may take over."""
        return PositionTolerance(self.tolerance_mm, self.tolerance_deg, self.joint_tolerance_deg)


class TargetsCfg(Cfg):
    """The robots by name, in YAML `robots: {fanuc: simulated, motoman: 192.168.1.66:64445}`."""

    robots: dict[str, EndpointCfg]

    @field_validator("robots", mode="before")
    @classmethod
    def _take_plain_addresses(cls, robots: Any) -> Any:
        if isinstance(robots, dict):
            return {name: {"at": at} if isinstance(at, str) else at for name, at in robots.items()}
        return robots
