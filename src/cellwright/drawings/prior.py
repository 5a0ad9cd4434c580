"""The drawings of a cell as an object: all that a controller knows of it before it has looked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cellwright.catalogue import FURNITURE, PARTS, FurnitureFigures
from cellwright.cells import Cell, Layout, drawn_layout, own_name
from cellwright.cells.actual import LensErrorCfg, PoseErrorCfg
from cellwright.core.camera import Camera
from cellwright.core.config import Normal, Number
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose

__all__ = ["Drawings", "ViewBox"]

ViewBox = tuple[tuple[float, float], tuple[float, float]]
"""The corners with the lowest and with the highest x and y of what a detector looks at."""

FLAT_DETECTORS = ("overhead_detector", "camera_detector")  # look down on planes of known height
DETECTORS = ("logical_detector", *FLAT_DETECTORS)
WHOLE_CELL: ViewBox = ((-100.0, -100.0), (100.0, 100.0))


@dataclass(frozen=True)
class Drawings:
    """The drawings of a cell, made from its file alone: no seed, nothing that was drawn from one.

    Attributes:
        cell: The cell as its file has it; of its errors only how large they may be, not which way they go.
        layout: Where things are by the drawings, whatever the seed: fixtures, robots, cameras, trays, and parts that
            have a place of their own. What is scattered or shuffled is not in it.
        tool_offsets: Robot -> the pose of its tool's point as a calibration has it, in the frame of the one that the
            robot reports; empty without a calibration.
        registered_detectors: Detectors whose corrections a calibration has.
    """

    cell: Cell
    layout: Layout
    tool_offsets: Mapping[str, Pose] = field(default_factory=dict)
    registered_detectors: frozenset[str] = frozenset()

    @classmethod
    def of(cls, cell: Cell) -> Drawings:
        """Returns the drawings of a cell."""
        return cls(_with_unknown_errors(cell), drawn_layout(cell))

    @cached_property
    def expected_parts(self) -> Mapping[str, int]:
        """SKU -> how many parts of it are in the cell, wherever they lie."""
        return expected_parts(self.cell)

    @cached_property
    def tool_models(self) -> Mapping[str, str]:
        """Own name -> catalogue name of the tools that the cell has from files."""
        tools = [robot.tool for robot in self.cell.robots.values() if robot.tool is not None]
        return {own_name(tool): tool for tool in tools if own_name(tool) != tool}

    @cached_property
    def force_sensors(self) -> Mapping[str, str]:
        """Robot -> its name of the sensor at its wrist, as its CRCL server has it."""
        return {name: next(iter(robot.crcl.force_sensors), "") for name, robot in self.cell.robots.items()}

    @cached_property
    def flat_detectors(self) -> frozenset[str]:
        """The detectors that measure neither heights nor leans: those that look down on a plane of known height."""
        lines = [line for _, line in self.cell.sensor_lines()]
        return frozenset(str(line.get("name")) for line in lines if line.get("type") in FLAT_DETECTORS)

    @cached_property
    def on_demand_detectors(self) -> frozenset[str]:
        """The detectors that take a picture only while one is waited for."""
        lines = [line for _, line in self.cell.sensor_lines()]
        return frozenset(str(line.get("name")) for line in lines if line.get("type") == "camera_detector")

    @cached_property
    def detector_cameras(self) -> Mapping[str, Camera]:
        """Detector -> its camera, as calibrated; one that names none looks straight down from far above."""
        found = {}
        for _, line in self.cell.sensor_lines():
            name, camera = str(line.get("name")), line.get("camera")
            if camera in self.layout.cameras:
                found[name] = self.layout.cameras[camera]
            elif camera is None and line.get("type") in DETECTORS:
                found[name] = Camera.straight_down(*_view(line))
        return found

    @cached_property
    def fixtures(self) -> tuple[tuple[str, FurnitureFigures, Pose], ...]:
        """The name, figures and pose in the world of everything that never moves."""
        poses = self.layout.fixtures
        return tuple((name, FURNITURE.get(cfg.model), poses[name]) for name, cfg in self.cell.fixtures.items())

    def views(self, detectors: Sequence[str]) -> dict[str, ViewBox]:
        """Returns detector -> the rectangle that it looks at, as it is mounted.

        Raises:
            BadInput: There is none.
        """
        if not detectors:
            raise BadInput(
                f"{self.cell.where}: the cell has no detector, without which no kit is built; add one under sensors"
            )
        lines: dict[Any, Mapping[str, Any]] = {line.get("name"): line for _, line in self.cell.sensor_lines()}
        return {name: _view(lines.get(name, {})) for name in detectors}

    def named_robots(self, robots: Sequence[str] | None = None) -> tuple[str, ...]:
        """Returns the robots that work; all by default.

        Raises:
            BadInput: No robot, or one that is not there.
        """
        cell = self.cell
        if not cell.robots:
            raise BadInput(f"{cell.where}: the cell has no robot; add one under robots")
        names = tuple(cell.robots) if robots is None else tuple(dict.fromkeys(robots))
        for name in names:
            if name not in cell.robots:
                raise UnknownName("robot", name, cell.robots)
        if not names:
            raise BadInput(f"no robot is to work; name at least one of {', '.join(cell.robots)}")
        return names


def expected_parts(cell: Cell) -> Counter[str]:
    """Returns SKU -> how many parts of it a cell has."""
    counts = Counter(PARTS.get(part.model).sku for part in cell.parts.values())
    for population in cell.populations:
        counts[PARTS.get(population.model).sku] += population.count
    return counts


def deviation(error: Number) -> float:
    """Returns the root mean square of an error about zero: the error to expect from the drawings alone."""
    if isinstance(error, int | float):
        return abs(float(error))
    figures = error.model_dump()
    if "sd" in figures:
        return float(np.hypot(figures["mean"], figures["sd"]))
    low, high = figures["low"], figures["high"]
    return float(np.sqrt((low * low + low * high + high * high) / 3))


def _view(line: Mapping[str, Any]) -> ViewBox:
    low, high = (line.get(key, usual) for key, usual in zip(("min_xy_m", "max_xy_m"), WHOLE_CELL, strict=True))
    return (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))


def _with_unknown_errors(cell: Cell) -> Cell:
    """Returns the cell with errors about zero: a fixed error in its file is reality, and for the world alone."""

    def unknown(error: Any) -> Any:
        if isinstance(error, PoseErrorCfg | LensErrorCfg):
            return error.model_copy(update={key: unknown(value) for key, value in error})
        if isinstance(error, tuple):
            return tuple(map(unknown, error))
        return Normal(sd=deviation(error)) if error != 0 else error

    errors = {key: unknown(value) for key, value in cell.actual if key != "size"}
    robots = {
        name: robot.model_copy(update={"crcl": robot.crcl.model_copy(update={"offsets": None})})
        for name, robot in cell.robots.items()
    }
    sensors = tuple({key: value for key, value in line.items() if key != "offsets"} for line in cell.sensors)
    update = {"actual": cell.actual.model_copy(update=errors), "robots": robots, "sensors": sensors}
    return cell.model_copy(update=update)
