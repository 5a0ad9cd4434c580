"""The targets of a cell's robots and detectors: simulated, or at an address; how they are asked, what is allowed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from cellwright.cells.fields import PoseCfg, Vector
from cellwright.core.config import Cfg
from cellwright.crcl.endpoints import SIMULATED, EndpointCfg, TargetAddress

__all__ = ["CellTargetsCfg", "DetectorTargetCfg", "RobotTargetCfg"]

OnLoss = Literal["stop", "simulated"]
TargetName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class RobotTargetCfg(EndpointCfg):
    """One robot: `simulated`, or the HOST:PORT of its CRCL server, what it speaks, and what is allowed.

    Attributes:
        length_unit: The unit of lengths in which it is spoken to.
        angle_unit: The unit of angles.
        frame: The frame of its poses in the base of the drawings.
        point: The point whose poses it takes and reports: the tool's centre point, or the flange.
        speed_limit_mps: It is never told to move its tool faster than that.
        workspace_m: Two corners of a box in the base of the drawings, which its tool is never told to leave.
        grip_tolerance_mm: By which width the fingers of the simulated robot and its own may differ at a switch;
            null: not compared, and it need not report its tool.
        on_loss: After it was lost: the run stops, or goes on with the simulated robot.
        shadow: The simulated robot gets the same commands, instead of following it, and both are compared.
    """

    length_unit: Literal["meter", "millimeter", "inch"] = "meter"
    angle_unit: Literal["radian", "degree"] = "radian"
    frame: PoseCfg = PoseCfg(xyz_m=(0.0, 0.0, 0.0))
    point: Literal["tool", "flange"] = "tool"
    speed_limit_mps: Annotated[float, Field(gt=0.0, le=10.0)] = 10.0
    workspace_m: tuple[Vector, Vector] | None = None
    grip_tolerance_mm: Annotated[float, Field(ge=0.0)] | None = 5.0
    on_loss: OnLoss = "stop"
    shadow: bool = False

    @property
    def is_external(self) -> bool:
        """Whether it is at an address."""
        return self.at != SIMULATED


class DetectorTargetCfg(Cfg):
    """One detector: `simulated`, or the HOST:PORT of its vision socket.

    Attributes:
        at: Where it is.
        protocol: `detections/1`, which tells times and variances, or `aprs`, the lines of that laboratory.
        robot: With `aprs`: in whose coordinates its lines are; the robot whose vision socket it is in the cell's file
            by default.
        rotation: With `aprs`: the unit of its angles.
        deviation_mm: With `aprs`: the standard deviation that its positions are taken to have.
        stalled_s: One that sends no frame for so long is lost.
        reconnect_s: For how long a lost one is tried again, before `on_loss` holds.
        mirror: Whether things of the simulated cell are put where it sees them.
        region_m: Two corners of a box in the world; what stands outside is told by the simulated detector. For a view
            in which a simulated robot works, too, whose doings no real camera sees.
        on_loss: After it was lost: the run stops, or goes on with the simulated detector.
    """

    at: TargetAddress = SIMULATED
    protocol: Literal["detections/1", "aprs"] = "detections/1"
    robot: TargetName | None = None
    rotation: Literal["radian", "degree"] = "radian"
    deviation_mm: Annotated[float, Field(gt=0.0, le=100.0)] = 0.5
    stalled_s: Annotated[float, Field(ge=0.1, le=600.0)] = 2.0
    reconnect_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 10.0
    mirror: bool = True
    region_m: tuple[Vector, Vector] | None = None
    on_loss: OnLoss = "stop"

    @property
    def is_external(self) -> bool:
        """Whether it is at an address."""
        return self.at != SIMULATED


class CellTargetsCfg(Cfg):
    """The targets by name: `robots: {fanuc: 192.168.1.65:64444}`, `detectors: {detector_fanuc: 192.168.1.9:5001}`.

    What is not named is simulated.

    Attributes:
        robots: Robot -> its target.
        detectors: Detector -> its target.
    """

    robots: dict[TargetName, RobotTargetCfg] = Field(default_factory=dict)
    detectors: dict[TargetName, DetectorTargetCfg] = Field(default_factory=dict)

    @property
    def has_external(self) -> bool:
        """Whether any robot or detector is at an address."""
        robots, detectors = self.robots.values(), self.detectors.values()
        return any(robot.is_external for robot in robots) or any(detector.is_external for detector in detectors)

    @field_validator("robots", "detectors", mode="before")
    @classmethod
    def _take_plain_addresses(cls, targets: Any) -> Any:
        if isinstance(targets, dict):
            return {name: {"at": at} if isinstance(at, str) else at for name, at in targets.items()}
        return targets

    @model_validator(mode="after")
    def _at_addresses_of_their_own(self) -> Self:
        taken: dict[str, str] = {}
        every: list[tuple[str, RobotTargetCfg | DetectorTargetCfg]] = [*self.robots.items(), *self.detectors.items()]
        for name, target in every:
            at = target.at.replace("localhost:", "127.0.0.1:")
            if target.is_external and taken.setdefault(at, name) != name:
                raise ValueError(f"{taken[at]} and {name} are both at {target.at}: give each its own address")
        return self
