"""The overhead detector: class, x, y and rotation in a plane of known height, as the APRS laboratory's recognition."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.catalogue import TRAYS, GearFigures, PartFigures, TrayFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.catalogue.seating import seated_height_m
from cellwright.core.config import Cfg
from cellwright.core.errors import ConfigError
from cellwright.sensors.base import SENSORS, SensorCfg, SensorContext
from cellwright.sensors.detector import Detector, DetectorCfg, Seen
from cellwright.sensors.pose_noise import LAB_CLUSTERS_M, AngleNoise, LengthNoise, PoseNoise
from cellwright.sensors.rotations import from_yaws, yaws
from cellwright.sim.sight import ObjectsInView

__all__ = ["OverheadDetector", "OverheadDetectorCfg", "OverheadNoiseCfg", "PlaneCfg", "is_round"]

Array = npt.NDArray[np.float64]
Height = Annotated[float, Field(ge=-100, le=100)]
LEVEL_RAD = 1e-9  # a camera is tilted beyond that
MARK_M = 0.01  # from the middle of an object to the mark by which its rotation is seen


class OverheadNoiseCfg(Cfg):
    """The noise of what an overhead detector measures: for each a standard deviation, or clusters.

    Attributes:
        x_m: Along x of the cell; the default is the laboratory's.
        y_m: Along y.
        yaw_deg: Of the rotation.
    """

    x_m: LengthNoise = 0.00028
    y_m: LengthNoise = 0.00033
    yaw_deg: AngleNoise = 0.3


class PlaneCfg(Cfg):
    """A part of the cell in which objects stand at another height.

    Attributes:
        height_m: The height of that table.
        min_xy_m: One corner.
        max_xy_m: The other.
    """

    height_m: Height
    min_xy_m: tuple[float, float]
    max_xy_m: tuple[float, float]

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.min_xy_m[0] < self.max_xy_m[0] and self.min_xy_m[1] < self.max_xy_m[1]):
            raise ValueError("min_xy_m must be below max_xy_m in both coordinates")
        return self


class OverheadDetectorCfg(DetectorCfg):
    """A detector that recognises objects in a picture: no height, no tilt.

    Attributes:
        camera: The camera through which it looks.
        plane_m: The height on which trays stand. A part is taken to be seated in a tray there; an object that is
            higher or lower is seen beside its place, away from the camera or towards it.
        planes: Parts of the cell in which that height is another.
        noise: Of each object in each frame; `none` for none, `clusters` for three normal distributions per axis, whose
            moments are those of the laboratory.
    """

    camera: str
    plane_m: Height
    planes: tuple[PlaneCfg, ...] = ()
    noise: Literal["none", "clusters"] | OverheadNoiseCfg = OverheadNoiseCfg()


@SENSORS.register("overhead_detector")
class OverheadDetector(Detector[OverheadDetectorCfg]):
    """Places in the plane, and rotations where the shape shows one; what is not measured has an infinite variance."""

    Cfg: ClassVar[type[SensorCfg]] = OverheadDetectorCfg

    def __init__(self, cfg: OverheadDetectorCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self._check_planes(context.where)

    def _check_planes(self, where: str) -> None:
        columns, rows = self.calibrated.resolution_px
        corners = np.array([(x, y) for x in (0, columns / 2, columns) for y in (0, rows / 2, rows)], float)
        rays, eye_m = self.calibrated.rays(corners), self.calibrated.pose_in_world.position[2]
        heights = [("plane_m", self.cfg.plane_m)]
        heights += [(f"planes.{k}.height_m", plane.height_m) for k, plane in enumerate(self.cfg.planes)]
        for key, height_m in heights:
            if not np.isfinite(self.calibrated.down_to(rays, height_m)).any():
                way = "above" if height_m > eye_m else "below"
                problem = f"{self.cfg.camera}, at {eye_m:g} m, looks at no plane at {height_m:g} m, which is {way} it"
                raise ConfigError(where, key, problem)

    @classmethod
    def noise_of(cls, cfg: OverheadDetectorCfg) -> PoseNoise:
        """Returns the noise of x, y and yaw; the others are not measured."""
        if isinstance(cfg.noise, str):
            own = OverheadNoiseCfg()
            x_m, y_m = LAB_CLUSTERS_M if cfg.noise == "clusters" else (0.0, 0.0)
            yaw_deg = own.yaw_deg if cfg.noise == "clusters" else 0.0
        else:
            x_m, y_m, yaw_deg = cfg.noise.x_m, cfg.noise.y_m, cfg.noise.yaw_deg
        return PoseNoise([x_m, y_m, None, None, None, yaw_deg], [1.0] * 5 + [np.pi / 180])

    def _look_up(self) -> None:
        super()._look_up()
        figures = [self.figures[sku] for sku in self.skus]
        self._above_plane = np.array([usual_height_m(one) for one in figures])
        self._is_round = np.array([is_round(one) for one in figures], bool)
        self._class_variances[self._is_round, 5] = np.inf
        self._corners_of_planes = [(np.array(plane.min_xy_m), np.array(plane.max_xy_m)) for plane in self.cfg.planes]
        turn = self.calibrated.pose_in_world @ self.actual.pose_in_world.inverse()
        self._camera_turn_rad = float(turn.rpy[2])
        self._bends = self.actual.lens_error is not None or bool(np.abs(turn.rpy[:2]).max() > LEVEL_RAD)

    def take(self, view: ObjectsInView) -> None:
        """Reckons where the middles of upper faces appear, and how objects are turned."""
        super().take(view)
        middles = self.sight.middles(slice(None)) + self.cfg.pull * view.shifts_m
        self._pixels = self.actual.pixels(middles)
        self._spots = self._on_planes(self._pixels, self.own_classes)
        self._yaws = self._seeming_yaws(middles, yaws(self.true_poses[:, 3:]))
        # What appears above the horizon has no place on a plane below it.
        self._visible = self._visible[np.isfinite(self._spots[0][self._visible].sum(axis=1))]

    def _seeming_yaws(self, middles: Array, true_yaws: Array) -> Array:
        """Returns how objects seem to be turned: a camera that is tilted, or its lens, turns each by another angle."""
        if not self._bends:
            return true_yaws + self._camera_turn_rad
        ways = np.column_stack([np.cos(true_yaws), np.sin(true_yaws), np.zeros(len(true_yaws))])
        ahead = self._on_planes(self.actual.pixels(middles + MARK_M * ways), self.own_classes)[0] - self._spots[0]
        result: Array = np.arctan2(ahead[:, 1], ahead[:, 0])
        return result

    def measured(self, seen: Seen) -> tuple[Array, Array, Array]:
        """Returns where the middle of each upper face appears, taken to be at its class's usual height."""
        rows, rotations = seen.objects, self._yaws[seen.objects] + seen.errors[:, 5]
        if self.cfg.wrong_class:
            spots = self._on_planes(self._pixels[rows], seen.classes)
        else:
            spots = [spot[rows] for spot in self._spots]
        positions, rotations = self._reported(spots, rotations, seen.classes)
        positions[:, :2] += seen.errors[:, :2]
        return positions, from_yaws(rotations + np.pi * seen.flipped), self.variances_of(seen)

    def imagined(self, position: Array, yaw_rad: float, sku: int, errors: Array) -> tuple[Array, Array, Array]:
        """Returns what would be reported of an object there."""
        pixels = self.calibrated.pixels(position)
        classes = np.array([sku])
        positions, rotations = self._reported(self._on_planes(pixels, classes), np.array([yaw_rad]), classes)
        positions[:, :2] += errors[:, :2]
        return positions, from_yaws(rotations), self._class_variances[[sku]]

    def _on_planes(self, pixels: Array, classes: npt.NDArray[np.intp]) -> list[Array]:
        """Returns where the middles of upper faces are, seen at these pixels, if on each of the cell's planes, n x 3.

        The height is that of the object itself.
        """
        rays, above, middle_m = self.calibrated.rays(pixels), self._above_plane[classes], self.middles[classes, 2]
        spots = []
        for plane_m in (self.cfg.plane_m, *(plane.height_m for plane in self.cfg.planes)):
            heights_m = plane_m + above
            spot = self.calibrated.down_to(rays, heights_m + middle_m)
            spot[:, 2] = heights_m
            spots.append(spot)
        return spots

    def _reported(self, spots: list[Array], rotations: Array, classes: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """Returns places and rotations of classes whose middles may be at these spots, which it changes."""
        rotations = np.where(self._is_round[classes], 0.0, rotations)
        c, s = np.cos(rotations), np.sin(rotations)
        x, y, _ = self.middles[classes].T
        middle_x, middle_y = c * x - s * y, s * x + c * y
        for spot in spots:
            spot[:, 0] -= middle_x
            spot[:, 1] -= middle_y
        positions = spots[0]
        for (low, high), other in zip(self._corners_of_planes, spots[1:], strict=True):
            inside = (other[:, :2] >= low) & (other[:, :2] <= high)
            positions = np.where(inside.all(axis=1, keepdims=True), other, positions)
        return positions, rotations


def usual_height_m(figures: PartFigures | TrayFigures) -> float:
    """Returns the height of an object's origin above the table, where it usually is: a part is seated in a tray."""
    if isinstance(figures, TrayFigures):
        return 0.0
    for name in TRAYS:
        tray = TRAYS.get(name)
        for slot in tray.slots:
            if slot.accepts == figures.sku:
                return seated_height_m(tray, slot, figures)
    return -figures.bottom_m


def is_round(figures: PartFigures | TrayFigures) -> bool:
    """Returns whether an object looks the same however it is turned: gears have no mark."""
    return isinstance(figures, GearFigures) or (isinstance(figures, TurnedFigures) and figures.handle is None)
