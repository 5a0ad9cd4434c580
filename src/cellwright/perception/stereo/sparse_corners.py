"""The corners of a cube of unknown size: outlines in both pictures, matched, triangulated, a square through the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sparse_evidence import PlateEvidence
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_projection import rays

__all__ = ["Corners", "fit_corners"]

Array = npt.NDArray[np.float64]

SIDES = 6  # the outline of a cube from a general place: three corners of the top and three of the foot, or four and two
LEAST_AREA = 60  # pixels of the evidence
ACROSS = np.linspace(-5, 5, 41)  # along the normal of a side, in pixels of the evidence
ALONG = np.linspace(0.15, 0.85, 25)
HEIGHT_SD_M, PLACE_SD_M, EPIPOLAR_SD_M = 0.006, 0.002, 0.001
LEAST_EDGE_M = 0.01


@dataclass(frozen=True)
class Corners:
    """A cube that was found by its corners.

    Attributes:
        centre_m: Its centre in the world.
        yaw_rad: Its turn.
        edge_m: Its edge.
        misfit: Mean squared deviation of heights, places and lines of sight, in units of what is usual.
    """

    centre_m: Array
    yaw_rad: float
    edge_m: float
    misfit: float


def fit_corners(pictures: Sequence[Picture], evidences: Sequence[PlateEvidence], task: CubeOnPlate) -> Corners | None:
    """Returns the cube whose outline is seen in both pictures; None where there is none with six sides."""
    outlines = [outline for outline in map(_outline, evidences) if outline is not None]
    if len(outlines) < len(evidences):
        return None
    left, right = (rays(picture, outline) for picture, outline in zip(pictures, outlines, strict=True))
    eyes = [picture.pose_camera_in_world.position for picture in pictures]
    found = []
    for shift in range(SIDES):
        points, missed_m = _meet(eyes[0], left, eyes[1], np.roll(right, shift, axis=0))
        if not np.isfinite(points).all() or np.sqrt((missed_m**2).mean()) > 8 * EPIPOLAR_SD_M:
            continue
        for start in range(SIDES):
            turned = np.roll(points, -start, axis=0)
            seen = [np.roll(left, -start, axis=0), np.roll(right, shift - start, axis=0)]
            found += [_cube(turned, seen, eyes, missed_m, count, task.plate_z_m) for count in (3, 4)]
    cubes = [cube for cube in found if cube is not None]
    return min(cubes, key=lambda cube: cube.misfit) if cubes else None


def _outline(evidence: PlateEvidence) -> Array | None:
    """Returns the six corners of the largest thing, in columns and rows of the picture."""
    mask = (evidence.nats > 0).astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    count, labels, facts, _ = cv2.connectedComponentsWithStats(mask)
    if count < 2:
        return None
    largest = 1 + int(np.argmax(facts[1:, cv2.CC_STAT_AREA]))
    if facts[largest, cv2.CC_STAT_AREA] < LEAST_AREA:
        return None
    contours, _ = cv2.findContours((labels == largest).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    hull = cv2.convexHull(max(contours, key=cv2.contourArea))
    if len(hull) < SIDES:
        return None
    rough = cv2.approxPolyN(hull, SIDES, ensure_convex=True).reshape(-1, 2).astype(float)
    if len(rough) != SIDES:
        return None
    lines = [_line(evidence.nats, rough[i], rough[(i + 1) % SIDES]) for i in range(SIDES)]
    crossed = np.cross(np.roll(lines, 1, axis=0), lines)
    with np.errstate(divide="ignore", invalid="ignore"):
        corners = crossed[:, :2] / crossed[:, 2:]
    off = np.linalg.norm(corners - rough, axis=1)
    corners = np.where((off < 6)[:, None], corners, rough)  # two sides in line have no crossing that is worth much
    if _area(corners) < 0:
        corners = corners[::-1]
    return np.asarray((corners + 0.5) * evidence.binning + evidence.origin_px)


def _area(corners: Array) -> float:
    x, y = corners.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def _line(nats: npt.NDArray[np.float32], start: Array, end: Array) -> Array:
    """Returns a, b, c of the line a x + b y + c = 0 along which the evidence changes its sign, near a side."""
    way = end - start
    length = max(float(np.linalg.norm(way)), 1e-6)
    normal = np.array([-way[1], way[0]]) / length
    middle = start + ALONG[:, None] * way
    at = middle[:, None, :] + ACROSS[None, :, None] * normal
    values = cv2.remap(
        nats,
        at[..., 0].astype(np.float32),
        at[..., 1].astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    if values[:, -1].mean() > values[:, 0].mean():
        values = -values
    # where the sum of what is before, and minus what is behind, is largest: the edge as all pixels tell it
    edge = ACROSS[np.cumsum(values, axis=1).argmax(axis=1)]
    points = middle + edge[:, None] * normal
    kept = np.ones(len(points), bool)
    line = np.zeros(3)
    for _ in range(3):
        centre = points[kept].mean(axis=0)
        across = np.linalg.svd(points[kept] - centre)[2][1]
        line = np.array([*across, -across @ centre])
        off = np.abs(points @ across + line[2])
        kept = off <= max(2.5 * float(np.median(off)), 0.2)
    return line


def _meet(eye_a: Array, a: Array, eye_b: Array, b: Array) -> tuple[Array, Array]:
    """Returns the points (n, 3) nearest to both lines of sight, and how far these pass each other."""
    way = eye_b - eye_a
    dot = np.einsum("ij,ij->i", a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        along_a = (a @ way - dot * (b @ way)) / (1 - dot**2)
        along_b = (dot * (a @ way) - b @ way) / (1 - dot**2)
    on_a, on_b = eye_a + along_a[:, None] * a, eye_b + along_b[:, None] * b
    points = np.where(((along_a > 0) & (along_b > 0))[:, None], (on_a + on_b) / 2, np.nan)
    return points, np.linalg.norm(on_a - on_b, axis=1)


def _cube(
    points: Array, seen: Sequence[Array], eyes: Sequence[Array], missed_m: Array, count: int, plate_z_m: float
) -> Corners | None:
    """Returns the cube whose top has the first corners and whose foot has the others; None where it has no height."""
    top_z_m = float(points[:count, 2].mean())
    if top_z_m < plate_z_m + LEAST_EDGE_M:
        return None
    heights = points[:, 2] - np.where(np.arange(SIDES) < count, top_z_m, plate_z_m)
    top = np.mean([_on_level(eye, way[:count], top_z_m) for eye, way in zip(eyes, seen, strict=True)], axis=0)
    foot = np.mean([_on_level(eye, way[count:], plate_z_m) for eye, way in zip(eyes, seen, strict=True)], axis=0)
    turn = np.array([1j, -1j][int(_turns_right(top))]) ** np.arange(4)
    system = np.column_stack([np.ones(count), turn[:count]])
    (centre, arm), *_ = np.linalg.lstsq(system, top[:, 0] + 1j * top[:, 1], rcond=None)
    square = centre + arm * turn
    edge_m = float(abs(arm) * np.sqrt(2))
    if edge_m < LEAST_EDGE_M:
        return None
    off = np.concatenate([
        np.abs(top[:, 0] + 1j * top[:, 1] - square[:count]),
        np.abs((foot[:, 0] + 1j * foot[:, 1])[:, None] - square).min(axis=1),
    ])  # fmt: skip
    misfit = np.mean((heights / HEIGHT_SD_M) ** 2) + np.mean((off / PLACE_SD_M) ** 2)
    misfit += np.mean((missed_m / EPIPOLAR_SD_M) ** 2) + ((top_z_m - plate_z_m - edge_m) / (2 * HEIGHT_SD_M)) ** 2
    yaw = (float(np.angle(arm)) - np.pi / 4) % (np.pi / 2)
    place = np.array([centre.real, centre.imag, (top_z_m + plate_z_m) / 2])
    return Corners(place, yaw, edge_m, float(misfit / 4))


def _on_level(eye: Array, ways: Array, z_m: float) -> Array:
    return np.asarray((eye + ways * ((z_m - eye[2]) / ways[:, 2:]))[:, :2])


def _turns_right(corners: Array) -> bool:
    (ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[1]
    return bool(ax * by - ay * bx < 0)
