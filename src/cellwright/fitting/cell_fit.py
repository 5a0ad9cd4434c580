"""A cell fitted to what was measured in the real one: bases, cameras and trays, and what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TRAYS
from cellwright.cells import Cell, PoseCfg
from cellwright.core.assignment import assign
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.drawings import Drawings
from cellwright.fitting.measured_files import MeasuredFile, SteadyObject, read_frames, steady_objects
from cellwright.fitting.tray_fit import FittedTray, fit_tray
from cellwright.fitting.tray_room import without_trays_in_the_way
from cellwright.perception.calibration import LabPairs, PairFit, fit_pairs, read_lab_csv

__all__ = ["CellFit", "FittedEntry", "fit_cell"]

Array = npt.NDArray[np.float64]

FARTHEST_M, FARTHEST_DEG = 0.3, 20.0  # of a base or a camera from its drawing
DIGITS = 6


@dataclass(frozen=True)
class FittedEntry:
    """An entry of the cell that was fitted.

    Attributes:
        entry: Its place in the file, such as `trays.fanuc_kit`.
        moved_m: How far it is from its drawing.
        turned_deg: How much it is turned against it.
        before_m: Root mean square of the residuals with the drawing.
        after_m: With the fit.
        count: How many measurements it has.
        note: What was left out, and why.
    """

    entry: str
    moved_m: float
    turned_deg: float
    before_m: float
    after_m: float
    count: int
    note: str = ""


@dataclass
class CellFit:
    """A cell as it was fitted.

    Attributes:
        cell: The cell with fitted poses.
        entries: What was fitted.
        notes: What could not be used, and what was left out.
    """

    cell: Cell
    entries: list[FittedEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fit_cell(cell: Cell, calibrations: Sequence[str], frames: Sequence[str], *, far: bool = False) -> CellFit:
    """Returns the cell with bases, cameras and trays where measured files have them, in the plane.

    Heights and tilts stay as drawn: the laboratory's files have the heights of flanges. The first robot stays where it
    is drawn.

    Args:
        cell: The cell.
        calibrations: Files `ROBOT=FILE` of vision to robot, from which a camera follows, and `ROBOT,OTHER=FILE` of
            robot to robot, from which a base follows; the robots may be left out if the file's name has them.
        frames: Files `ROBOT=FILE` of vision, from which trays follow.
        far: Whether a base or a camera may be far from its drawing.

    Raises:
        BadInput: Files that cannot be read, whose pairs contradict each other, or that put something far off.
    """
    if not calibrations and not frames:
        raise BadInput("nothing to fit: give --calibration or --frames, with a file that was measured in the real cell")
    fit = _Fitter(cell, far)
    read = [(text, read_lab_csv(_path(text, cell))) for text in calibrations]
    for text, pairs in sorted(read, key=lambda one: one[1].kind):  # `robots` before `vision`: bases first
        if pairs.kind == "robots":
            fit.take_robots(MeasuredFile.of(text, cell.robots, 2), pairs)
        else:
            fit.take_vision(MeasuredFile.of(text, cell.robots, 1), pairs)
    for text in frames:
        fit.take_frames(MeasuredFile.of(text, cell.robots, 1))
    return fit.result()


def _path(text: str, cell: Cell) -> Any:
    return MeasuredFile.of(f"{next(iter(cell.robots), '')}={text.rpartition('=')[2]}", cell.robots, 1).path


class _Fitter:
    """Collects what files say, one after the other."""

    def __init__(self, cell: Cell, far: bool) -> None:
        if not cell.robots:
            raise BadInput(f"{cell.where}: the cell has no robot, in whose coordinates anything could be measured")
        self._cell, self._far = cell, far
        self._drawings = Drawings.of(cell)
        self._bases = dict(self._drawings.layout.bases)
        self._corrections: dict[str, Pose] = {}
        self._trays: dict[str, Pose] = {}
        self._changes: dict[str, dict[str, Any]] = {"robots": {}, "cameras": {}, "trays": {}}
        self._entries: list[FittedEntry] = []
        self._notes: list[str] = []

    def _origin(self, robot: str, base: Pose) -> Pose:
        """Returns the origin of a robot's coordinates in the world, with its base there."""
        lab = self._cell.robots[robot].crcl.lab
        return base @ lab.pose.pose if lab is not None else base

    def take_robots(self, file: MeasuredFile, pairs: LabPairs) -> None:
        """Fits the base of one robot to another's; the first of the cell stays."""
        source, target = file.robots
        fit = _planar_fit(pairs, str(file.path))
        first = next(iter(self._cell.robots))
        moving, other, transform = (source, target, fit.pose) if source != first else (target, source, None)
        transform = fit.pose.inverse() if transform is None else transform
        drawn = self._drawings.layout.bases
        turn = self._origin(moving, Pose.identity())
        found = self._origin(other, self._bases[other]) @ transform @ turn.inverse()
        base = _in_plane(found, drawn[moving])
        self._check_near(base, drawn[moving], f"{file.path}: the base of {moving}")
        old = self._origin(target, drawn[target]).inverse() @ self._origin(source, drawn[source])
        self._bases[moving] = base
        self._changes["robots"][moving] = {"base": _plain(base)}
        self._add(f"robots.{moving}", base, drawn[moving], _rms(pairs, old), fit)

    def take_vision(self, file: MeasuredFile, pairs: LabPairs) -> None:
        """Fits the camera of a robot's detector to what the robot touched."""
        (robot,) = file.robots
        camera = self._camera(robot)
        fit = _planar_fit(pairs, str(file.path))
        drawn = self._drawings.layout
        reported, true = (self._origin(robot, base) for base in (drawn.bases[robot], self._bases[robot]))
        was = drawn.cameras[camera].pose_in_world
        pose = true @ fit.pose @ reported.inverse() @ was
        self._check_near(pose, was, f"{file.path}: the camera {camera}")
        self._corrections[robot] = fit.pose
        self._changes["cameras"][camera] = {"pose": _plain(pose)}
        self._add(f"cameras.{camera}", pose, was, _rms(pairs, Pose.identity()), fit)

    def take_frames(self, file: MeasuredFile) -> None:
        """Fits the trays of a robot's table to how they and their parts are seen."""
        (robot,) = file.robots
        objects = steady_objects(read_frames(file.path))
        origin = self._origin(robot, self._bases[robot])
        to_world = origin @ self._corrections.get(robot, Pose.identity())
        turn_rad = float(to_world.rpy[2])
        seen = [
            SteadyObject(one.sku, _xy(to_world.apply([*one.xy_m, 0.0])), one.rotation_rad + turn_rad, one.count)
            for one in objects
        ]
        skus = {TRAYS.get(tray.model).sku for tray in self._cell.trays.values()}
        trays, parts = ([one for one in seen if (one.sku in skus) is is_tray] for is_tray in (True, False))
        own = self._trays_of(robot)
        pairs = self._matched(own, trays)
        for name, tray in pairs.items():
            drawn = self._cell.trays[name]
            was, figures = drawn.pose.pose, TRAYS.get(drawn.model)
            fitted = fit_tray(figures, tray, parts, float(was.rpy[2]))
            pose = _at(was, fitted.xy_m, fitted.yaw_rad)
            self._trays[name] = pose
            self._changes["trays"][name] = {"pose": _plain(pose)}
            self._entries.append(_tray_entry(name, pose, was, fitted, tray))
        used = list(pairs.values())
        lone = [one for one in trays if one not in used]
        self._notes += [f"{file.path}: a tray {one.sku} is seen that the cell has not: left out" for one in lone]
        if unseen := [name for name in own if name not in pairs]:
            self._notes.append(f"{file.path}: not seen, and left as drawn: {', '.join(unseen)}")

    def result(self) -> CellFit:
        """Returns the cell with all changes, checked as a whole."""
        cell = self._cell.changed({key: value for key, value in self._changes.items() if value})
        if self._trays:
            cell, gone = without_trays_in_the_way(cell, self._trays)
            self._notes += [
                f"{name} stands as drawn in the way of {other}, which is seen: left out" for name, other in gone
            ]
        return CellFit(cell, self._entries, self._notes)

    def _camera(self, robot: str) -> str:
        """Returns the camera of the detector that a robot's vision socket sends."""
        vision = self._cell.robots[robot].vision
        lines = {str(line.get("name")): line for _, line in self._cell.sensor_lines()}
        camera = lines.get(vision.detector, {}).get("camera") if vision is not None else None
        if camera not in self._drawings.layout.cameras:
            raise BadInput(f"{self._cell.where}: {robot} has no vision with a camera, to which vision could be fitted")
        return str(camera)

    def _trays_of(self, robot: str) -> list[str]:
        """Returns the trays that are nearer to the robot's camera than to any other robot's."""
        cameras = {}
        for name, cfg in self._cell.robots.items():
            if cfg.vision is not None:
                cameras[name] = self._drawings.layout.cameras[self._camera(name)].pose_in_world.position[:2]
        if robot not in cameras:
            raise BadInput(f"{self._cell.where}: {robot} has no vision, of which there could be frames")
        drawn = {name: np.array(tray.pose.xyz_m[:2]) for name, tray in self._cell.trays.items()}
        return [n for n, at in drawn.items() if min(cameras, key=lambda c: np.hypot(*(cameras[c] - at))) == robot]

    def _matched(self, names: list[str], trays: list[SteadyObject]) -> dict[str, SteadyObject]:
        """Returns tray -> its detection: of the same class, all together as near to their drawings as they can be."""
        if not names or not trays:
            return {}
        costs = np.full((len(names), len(trays)), np.inf)
        for row, name in enumerate(names):
            drawn = self._cell.trays[name]
            for column, one in enumerate(trays):
                if TRAYS.get(drawn.model).sku == one.sku:
                    costs[row, column] = np.hypot(*np.subtract(drawn.pose.xyz_m[:2], one.xy_m))
        return {names[row]: trays[column] for row, column in assign(costs, 10.0)}

    def _check_near(self, pose: Pose, drawn: Pose, what: str) -> None:
        away_m, turned_deg = pose.distance_m(drawn), float(np.degrees(pose.angle_rad(drawn)))
        if not self._far and (away_m > FARTHEST_M or turned_deg > FARTHEST_DEG):
            raise BadInput(
                f"{what} is measured {away_m:.2f} m and {turned_deg:.0f} degrees from its drawing (allowed "
                f"{FARTHEST_M:g} m, {FARTHEST_DEG:g} degrees): the real cell stands otherwise; correct the drawing "
                "first, or add --far to take it nevertheless"
            )

    def _add(self, entry: str, pose: Pose, drawn: Pose, before_m: float, fit: PairFit) -> None:
        note = "; ".join(f"{name} left out: {why}" for name, why in fit.rejected.items())
        turned_deg = float(np.degrees(pose.angle_rad(drawn)))
        entry_of = FittedEntry(entry, pose.distance_m(drawn), turned_deg, before_m, fit.rms_m, len(fit.names), note)
        self._entries.append(entry_of)


def _planar_fit(pairs: LabPairs, where: str) -> PairFit:
    """Returns the fit of pairs in the plane: a shift and a turn about the vertical."""
    flat = np.array([1.0, 1.0, 0.0])
    try:
        fit = fit_pairs(pairs.from_m * flat, pairs.to_m * flat, pairs.names)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    return fit


def _rms(pairs: LabPairs, transform: Pose) -> float:
    """Returns how far pairs are off in the plane with a transform."""
    off = (transform.apply(pairs.from_m) - pairs.to_m)[:, :2]
    return float(np.sqrt((off**2).sum(axis=1).mean()))


def _in_plane(found: Pose, drawn: Pose) -> Pose:
    """Returns a found pose with the height and the tilt of its drawing."""
    roll, pitch, _ = drawn.rpy
    return Pose.from_xyz_rpy([*found.position[:2], drawn.position[2]], [roll, pitch, found.rpy[2]])


def _at(drawn: Pose, xy_m: tuple[float, float], yaw_rad: float) -> Pose:
    roll, pitch, _ = drawn.rpy
    return Pose.from_xyz_rpy([*xy_m, drawn.position[2]], [roll, pitch, yaw_rad])


def _xy(point: Array) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _tray_entry(name: str, pose: Pose, was: Pose, fitted: FittedTray, seen: SteadyObject) -> FittedEntry:
    before_m = float(np.hypot(*np.subtract(was.position[:2], seen.xy_m)))
    after_m = float(np.sqrt(np.mean(np.square(fitted.residuals_m))))
    moved_m, turned_deg = pose.distance_m(was), float(np.degrees(pose.angle_rad(was)))
    note = f"with {fitted.parts} of its parts" if fitted.parts else "by its outline alone"
    return FittedEntry(f"trays.{name}", moved_m, turned_deg, before_m, after_m, 1 + fitted.parts, note)


def _plain(pose: Pose) -> dict[str, Any]:
    """Returns a pose as a cell's file has it."""
    xyz, rpy = ([round(float(x), DIGITS) + 0.0 for x in numbers] for numbers in (pose.position, np.degrees(pose.rpy)))
    return PoseCfg(xyz_m=(xyz[0], xyz[1], xyz[2]), rpy_deg=(rpy[0], rpy[1], rpy[2])).model_dump()
