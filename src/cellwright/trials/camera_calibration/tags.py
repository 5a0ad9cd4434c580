"""Places for tags: free by the drawings, in view of the cameras, far apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, ROBOTS, TRAYS
from cellwright.catalogue.furniture_kinds import PlatedTableFigures, TableFigures
from cellwright.catalogue.printed import CALIBRATION_TAGS, TagFigures
from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.registration_points import check_points
from cellwright.drawings.prior import Drawings
from cellwright.execution.arm_capsules import ArmCapsules, gap_m
from cellwright.motion.planning.furniture_boxes import furniture_boxes
from cellwright.perception.calibration import DrawnCamera
from cellwright.trials.camera_calibration.poses import sight_lines

__all__ = ["tag_places"]

Array = npt.NDArray[np.float64]
GRID_M = 0.01
ROOM_M = 0.056  # about a tag's middle, that must be free
SEEN_M = 0.06
WIDTH_M = 0.03  # of the places of tags across their longest direction, root mean square
APART_M = 0.12
WANTED, LEAST = 5, 3  # tags in view of a camera
TAG_RAD = 0.35  # turned, so that no edge runs along the pixels of a camera that looks straight down
TAG_M = CALIBRATION_TAGS[0].size_m[2] / 2


def tag_places(
    drawings: Drawings, cameras: Sequence[DrawnCamera], given: Sequence[tuple[float, float]] = ()
) -> dict[int, Pose]:
    """Returns number of a tag -> where it lies: those of the cell's file, or as given, or at free places.

    Raises:
        BadInput: Places beside all tables, or occupied, or too few that a camera sees.
    """
    drawn = _drawn(drawings)
    if drawn and not given:
        return drawn
    if len(given) > len(CALIBRATION_TAGS):
        raise BadInput(f"--tag: {len(given)} places, and there are {len(CALIBRATION_TAGS)} tags; leave some away")
    if given:
        places = [_named(drawings, x, y) for x, y in given]
        check_points(places, "places of tags")
    else:
        places = _chosen(drawings, [camera for camera in cameras if camera.robot is None])
    return {number: Pose.from_xyz_rpy([*p[:2], p[2] + TAG_M], [0, 0, TAG_RAD]) for number, p in enumerate(places)}


def _drawn(drawings: Drawings) -> dict[int, Pose]:
    found: dict[int, Pose] = {}
    for part in drawings.layout.parts:
        figures = PARTS.get(part.model)
        if isinstance(figures, TagFigures):
            if figures.number in found:
                raise BadInput(
                    f"{drawings.cell.where}: parts.{part.name}: tag {figures.number} is there twice; take another model"
                )
            found[figures.number] = part.pose_in_world
    return found


def _top_m(figures: TableFigures, pose: Pose, points: Array) -> Array:
    """Returns the height of a table at points on it, with its raised plates."""
    heights = np.full(len(points), float(pose.position[2]) + figures.top_m)
    if isinstance(figures, PlatedTableFigures):
        local = pose.inverse().apply(points)
        for plate in figures.plates:
            low, high = np.array(plate.min_xy_m), np.array(plate.max_xy_m)
            grown = ((local[:, :2] > low - ROOM_M) & (local[:, :2] < high + ROOM_M)).all(axis=1)
            inside = ((local[:, :2] > low + ROOM_M) & (local[:, :2] < high - ROOM_M)).all(axis=1)
            heights[grown & ~inside] = np.nan  # across its edge
            heights[inside] = float(pose.position[2]) + plate.top_m
    return heights


def _spots(drawings: Drawings) -> tuple[Array, npt.NDArray[np.intp]]:
    """Returns free places of all tables, (n, 3), and the number of the table of each."""
    found = [np.empty((0, 3))]
    for _, figures, pose in drawings.fixtures:
        if isinstance(figures, TableFigures):
            half = np.array(figures.size_m) / 2 - ROOM_M
            if (half > 0).all():
                grid = np.stack(np.meshgrid(*(np.arange(-h, h + 1e-9, GRID_M) for h in half)), axis=-1).reshape(-1, 2)
                points = pose.apply(np.column_stack([grid, np.full(len(grid), figures.top_m)]))
                points[:, 2] = _top_m(figures, pose, points)
                points = points[np.isfinite(points[:, 2])]
                found.append(points[_is_free(drawings, points)])
    return np.concatenate(found), np.repeat(np.arange(len(found)), [len(points) for points in found])


def _is_free(drawings: Drawings, points: Array) -> npt.NDArray[np.bool_]:
    free = np.ones(len(points), bool)
    for _, figures, pose in drawings.fixtures:
        for pose_box, half_m in furniture_boxes(figures):
            placed = pose @ pose_box
            spread = np.abs(placed.rotation_matrix) @ np.array(half_m)
            low, high = placed.position[2] - spread[2], placed.position[2] + spread[2]
            away_m = np.hypot(*np.maximum(np.abs(points[:, :2] - placed.position[:2]) - spread[:2], 0.0).T)
            free &= ~((high > points[:, 2] + 0.002) & (low < points[:, 2] + 0.1) & (away_m < ROOM_M))
    for tray in drawings.layout.trays:
        local = tray.pose_in_world.inverse().apply(points)
        away_m = np.hypot(*np.maximum(np.abs(local[:, :2]) - np.array(TRAYS.get(tray.model).size_m) / 2, 0.0).T)
        free &= away_m > ROOM_M
    for part in drawings.layout.parts:
        away_m = np.hypot(*(points - part.pose_in_world.position)[:, :2].T)
        free &= away_m > ROOM_M + PARTS.get(part.model).radius_m
    for population in drawings.cell.populations:
        if population.region is not None:
            low, high = np.array(population.region.min_xy_m), np.array(population.region.max_xy_m)
            beside = np.maximum(np.maximum(low - points[:, :2], points[:, :2] - high), 0.0)
            free &= np.hypot(*beside.T) > ROOM_M
    for base in drawings.layout.bases.values():
        free &= np.hypot(*(points - base.position)[:, :2].T) > 0.2
    return free


def _named(drawings: Drawings, x: float, y: float) -> Array:
    tables = {name: (figures, pose) for name, figures, pose in drawings.fixtures if isinstance(figures, TableFigures)}
    for figures, pose in sorted(tables.values(), key=lambda one: -one[0].top_m):
        point = np.array([[x, y, 0.0]])
        local = pose.inverse().apply(point)[0]
        if (np.abs(local[:2]) <= np.array(figures.size_m) / 2 - ROOM_M / 2).all():
            point[:, 2] = _top_m(figures, pose, point)
            if not np.isfinite(point[0, 2]) or not _is_free(drawings, point)[0]:
                raise BadInput(f"--tag {x:g},{y:g}: something is there by the drawings; choose another place, or none")
            return np.asarray(point[0], float)
    raise BadInput(f"--tag {x:g},{y:g}: no table is there (tables: {', '.join(tables) or 'none'})")


def _chosen(drawings: Drawings, cameras: Sequence[DrawnCamera]) -> list[Array]:
    """Returns places far apart that each camera sees, as many in common as there are."""
    if not cameras:
        return []
    spots, tables = _spots(drawings)
    seen = {camera.name: _seen(drawings, camera.camera, spots) for camera in cameras}
    for name, mask in seen.items():  # on one table: another may stand beside its drawing by other millimetres
        widths = {table: _width_m(spots[mask & (tables == table)]) for table in np.unique(tables[mask])}
        if widths:
            seen[name] = mask & (tables == max(widths, key=widths.__getitem__))
    in_common = np.all(list(seen.values()), axis=0)
    kept: list[int] = []
    for camera in cameras:
        among = in_common if in_common.sum() >= WANTED else seen[camera.name]
        have = [k for k in kept if seen[camera.name][k]]
        while len(have) < WANTED:
            others = spots[kept] if kept else spots[among].mean(axis=0)[None] if among.any() else spots[:0]
            away_m = np.min([np.hypot(*(spots - other)[:, :2].T) for other in others], axis=0) if len(others) else None
            if away_m is None or not (ok := among & (away_m >= (APART_M if kept else 0.0))).any():
                break
            best = int(np.argmax(np.where(ok, away_m, -1.0)))
            kept.append(best)
            have.append(best)
        if len(have) < LEAST or _width_m(spots[have]) < WIDTH_M:
            raise BadInput(
                f"{drawings.cell.where}: {camera.name} sees {len(have)} free places for tags, by the drawings, and "
                f"{LEAST} that are no line are needed, on one table: say where they lie by --tag x,y, or have a robot "
                "hold the board by --robot NAME"
            )
    if len(kept) > len(CALIBRATION_TAGS):
        raise BadInput(
            f"these cameras need {len(kept)} tags, and there are {len(CALIBRATION_TAGS)}: one after the other"
        )
    return [spots[k] for k in kept]


def _width_m(points: Array) -> float:
    """Returns how far points are from their line of best fit, root mean square."""
    if len(points) < LEAST:
        return 0.0
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1] / np.sqrt(len(points)))


def _seen(drawings: Drawings, camera: Camera, spots: Array) -> npt.NDArray[np.bool_]:
    """Returns which places a camera sees, past the arms where they begin."""
    seen = camera.sees(spots, SEEN_M)
    for name, robot in drawings.cell.robots.items():
        capsules = ArmCapsules(ROBOTS.get(robot.model), drawings.layout.bases[name])
        arm = capsules.at(np.radians(robot.home_deg), robot.tool or "")
        for k in np.flatnonzero(seen):
            seen[k] = gap_m(arm, sight_lines(camera, spots[k][None], SEEN_M)) > 0.0
    return seen
