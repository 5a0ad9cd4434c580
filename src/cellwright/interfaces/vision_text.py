"""The text of the APRS laboratory's vision socket: one line per frame, six comma fields per object.

A group is `name,rotation,x,y,score,type,`: x and y in millimetres in the robot's coordinates, no height, type P for a
part, PT for a parts tray, KT for a kit tray. Objects have no identity: matching groups over frames is for the client to
do. The reader here forgives and refuses what the laboratory's own reader does, so that a frame means the same to both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from cellwright.core.errors import BadInput, FrameMismatch, OutOfRange, UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose

__all__ = ["PART_KIND", "AngleUnit", "VisionEncoder", "VisionGroup", "decode_line", "encode_line"]

AngleUnit = Literal["radian", "degree"]

PART_KIND = "P"
FIELDS = 6
_COMMA = re.compile(", *")
_NUMBER = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)
_MM_PER_M = 1000.0


@dataclass(frozen=True, slots=True)
class VisionGroup:
    """One object of a frame, as it is sent on the wire, with its angle in radians.

    Attributes:
        name: What it was taken for, a SKU.
        rotation_rad: Turn about the vertical.
        x_mm: In the robot's coordinates.
        y_mm: In the robot's coordinates.
        score: How sure the recognition is, 0 to 1; entries made by hand have 100.
        kind: P, PT or KT.
    """

    name: str
    rotation_rad: float
    x_mm: float
    y_mm: float
    score: float
    kind: str


def encode_line(groups: Iterable[VisionGroup], *, rotation_unit: AngleUnit = "radian", decimals: int = 2) -> str:
    """Returns a frame as text, without the newline; a number that is not finite becomes an empty field: not detected.

    Raises:
        BadInput: A name or a kind that a reader would take for something else.
    """
    turns = 1.0 if rotation_unit == "radian" else math.degrees(1.0)
    form = f"z.{decimals}f"
    line = []
    for group in groups:
        line.append(_checked(group.name))
        for number in (group.rotation_rad * turns, group.x_mm, group.y_mm, group.score):
            line.append(format(number, form) if math.isfinite(number) else "")
        line.append(_checked(group.kind))
    return ",".join([*line, ""])


@lru_cache(maxsize=1024)
def _checked(word: str) -> str:
    """Returns the word, if a reader would not take it for something else."""
    if not word or word == "*" or not word.isprintable() or "," in word or word != word.strip():
        raise BadInput(f"the vision line cannot carry the name '{word}': letters, no comma, not '*', not empty")
    return word


def decode_line(line: str, *, rotation_unit: AngleUnit = "radian") -> list[VisionGroup]:
    """Returns the objects of a frame; never raises.

    As in the laboratory, a group is skipped whose name is `*`, that lacks one of its first five fields, or that has a
    number which is not finite; a word in place of a number ends the frame there; an incomplete last group is left out.
    """
    fields = _COMMA.split(line.rstrip("\r\n"))
    while fields and not fields[-1]:
        fields.pop()
    groups: list[VisionGroup] = []
    for start in range(0, len(fields) - FIELDS + 1, FIELDS):
        name, *texts, kind = fields[start : start + FIELDS]
        if name == "*" or not name or not all(texts):
            continue
        numbers: list[float] = []
        for text in texts:
            if not _NUMBER.fullmatch(text.strip()):
                return groups
            number = float(text.strip().rstrip("fFdD"))
            if not math.isfinite(number):
                break  # the rest of the group is not even looked at
            numbers.append(number)
        if len(numbers) == len(texts):
            rotation, x_mm, y_mm, score = numbers
            rotation_rad = rotation if rotation_unit == "radian" else math.radians(rotation)
            groups.append(VisionGroup(name.strip(), rotation_rad, x_mm, y_mm, score, kind.strip()))
    return groups


class VisionEncoder:
    """Turns detections into lines for one robot.

    Args:
        pose_robot_in_world: The origin of the robot's coordinates, as its controller believes.
        kinds: SKU -> P, PT or KT; whatever is not named is a part.
        frame: The frame of the detections.
        rotation_unit: The laboratory sends radians; its client can be told to expect degrees.
        decimals: Digits after the point; two, as the laboratory sends.
        groups: SKU -> how many groups of it every frame has, in this order: the best by score, filled up with groups
            whose fields are empty, as the real recognition does. None sends what is seen, in the detector's order.
    """

    def __init__(
        self,
        pose_robot_in_world: Pose,
        kinds: Mapping[str, str],
        *,
        frame: str = "world",
        rotation_unit: AngleUnit = "radian",
        decimals: int = 2,
        groups: Mapping[str, int] | None = None,
    ) -> None:
        if rotation_unit not in ("radian", "degree"):
            raise UnknownName("angle unit", rotation_unit, ["radian", "degree"])
        if not 0 <= decimals <= 12:
            raise OutOfRange("decimals", decimals, 0, 12)
        self._pose_world_in_robot = pose_robot_in_world.inverse()
        self._rotation_to_robot = self._pose_world_in_robot.rotation_matrix
        self._kinds = dict(kinds)
        self._groups = None if groups is None else dict(groups)
        self._frame = frame
        self._rotation_unit: AngleUnit = rotation_unit
        self._decimals = decimals

    def encode(self, detections: Detections) -> str:
        """Returns the line of a frame, without its newline.

        Raises:
            FrameMismatch: The detections are given in another frame.
            BadInput: A SKU that cannot stand in a line.
        """
        if detections.frame != self._frame:
            raise FrameMismatch(self._frame, detections.frame)
        groups = self._seen(detections)
        if self._groups is not None:
            groups = self._filled(groups, self._groups)
        return encode_line(groups, rotation_unit=self._rotation_unit, decimals=self._decimals)

    def _seen(self, detections: Detections) -> list[VisionGroup]:
        xy_mm = self._pose_world_in_robot.apply(detections.positions.reshape(-1, 3))[:, :2] * _MM_PER_M
        w, i, j, k = detections.quaternions.reshape(-1, 4).T
        x_axes = np.stack([1 - 2 * (j * j + k * k), 2 * (i * j + w * k), 2 * (i * k - w * j)])
        east, north, _ = self._rotation_to_robot @ x_axes
        rows = zip(
            detections.skus, np.arctan2(north, east).tolist(), xy_mm.tolist(), detections.scores.tolist(), strict=True
        )
        return [VisionGroup(sku, yaw, x, y, score, self._kind(sku)) for sku, yaw, (x, y), score in rows]

    def _filled(self, seen: list[VisionGroup], counts: Mapping[str, int]) -> list[VisionGroup]:
        frame = []
        for sku, count in counts.items():
            best = sorted((group for group in seen if group.name == sku), key=lambda group: -group.score)[:count]
            nothing = VisionGroup(sku, math.nan, math.nan, math.nan, math.nan, self._kind(sku))
            frame += best + [nothing] * (count - len(best))
        return frame

    def _kind(self, sku: str) -> str:
        return self._kinds.get(sku, PART_KIND)
