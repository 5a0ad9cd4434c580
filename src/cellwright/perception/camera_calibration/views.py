"""Views of printed patterns: where the corners of a board or of tags are in a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.printed import CharucoFigures, TagFigures
from cellwright.core.extras import need_extra
from cellwright.perception.picture import Picture

__all__ = ["BoardFinder", "PatternView", "TagFinder", "need_vision", "tag_corners_m"]

Array = npt.NDArray[np.float64]
MIDDLE_PX = 0.5  # a pixel's middle, which OpenCV has at whole numbers
TAG_MIDDLE_PX = 0.07  # the same for corners of tags, which are refined otherwise: measured in pictures that are known
LEAST_CORNERS = 12  # of a board, that count as a view of it
WINDOW_SHARE = 0.10  # of a square's side in the picture: half of what is looked at about a corner, short of the markers


def need_vision() -> None:
    """Refuses work in which patterns are found, where OpenCV or SciPy are missing.

    Raises:
        MissingExtra: One is; says how to get it.
    """
    need_extra("calibrating cameras", "vision", "cv2", "scipy")


@dataclass(frozen=True, kw_only=True)
class PatternView:
    """The corners of a pattern in one picture.

    Attributes:
        source: The camera's name.
        size_px: Columns and rows of the picture.
        numbers: (n,): which corners of the pattern were found.
        points_m: (n, 3): where they are in the frame of the pattern, or of what carries several.
        pixels: (n, 2): column and row, pixel (0, 0) covering 0 to 1.
        reason: Why nothing was found; empty otherwise.
    """

    source: str
    size_px: tuple[int, int] = (0, 0)
    numbers: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    points_m: Array = field(default_factory=lambda: np.empty((0, 3)))
    pixels: Array = field(default_factory=lambda: np.empty((0, 2)))
    reason: str = ""

    @property
    def is_found(self) -> bool:
        """Whether the pattern was found."""
        return not self.reason


@dataclass(frozen=True)
class BoardFinder:
    """Finds a ChArUco board in pictures.

    Attributes:
        figures: The board.
    """

    figures: CharucoFigures

    @cached_property
    def points_m(self) -> Array:
        """(n, 3): the inner corners, by their numbers, in the board's frame."""
        columns, rows = (count - 1 for count in self.figures.squares)
        j, i = np.mgrid[:rows, :columns]
        x = (i.ravel() + 1 - self.figures.squares[0] / 2) * self.figures.square_m
        y = (self.figures.squares[1] / 2 - 1 - j.ravel()) * self.figures.square_m
        return np.column_stack([x, y, np.full(x.size, self.figures.size_m[2] / 2)])

    @cached_property
    def _detector(self) -> Any:
        from cv2 import aruco

        dictionary = aruco.getPredefinedDictionary(getattr(aruco, f"DICT_{self.figures.dictionary}"))
        marker_m = self.figures.square_m * 0.75
        board = aruco.CharucoBoard(self.figures.squares, self.figures.square_m, marker_m, dictionary)
        return aruco.CharucoDetector(board)

    def find(self, picture: Picture) -> PatternView:
        """Returns the corners of the board in a picture, to a fraction of a pixel; or why there are none."""
        import cv2

        if picture.fault:
            return PatternView(source=picture.source, reason=picture.fault)
        grey = cv2.cvtColor(np.ascontiguousarray(picture.pixels), cv2.COLOR_RGB2GRAY)
        corners, numbers, _, _ = self._detector.detectBoard(grey)
        found = 0 if numbers is None else len(numbers)
        if found < LEAST_CORNERS:
            reason = f"the board is not in view of {picture.source}: {found} of its {len(self.points_m)} corners"
            return PatternView(source=picture.source, reason=reason)
        numbers, corners = np.asarray(numbers).reshape(-1), np.asarray(corners, np.float32).reshape(-1, 1, 2)
        window = int(np.clip(WINDOW_SHARE * _least_apart(corners.reshape(-1, 2).astype(float)), 2, 15))
        stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 1e-3)
        corners = cv2.cornerSubPix(grey, corners, (window, window), (-1, -1), stop).reshape(-1, 2)
        return PatternView(
            source=picture.source,
            size_px=(grey.shape[1], grey.shape[0]),
            numbers=numbers.astype(np.intp),
            points_m=self.points_m[numbers],
            pixels=corners.astype(float) + MIDDLE_PX,
        )


@dataclass(frozen=True)
class TagFinder:
    """Finds tags in pictures.

    Attributes:
        dictionary: Of the tags, as OpenCV names it.
    """

    dictionary: str = "APRILTAG_36h11"

    @cached_property
    def _detector(self) -> Any:
        from cv2 import aruco

        parameters = aruco.DetectorParameters()
        parameters.cornerRefinementMethod = aruco.CORNER_REFINE_APRILTAG  # lines along edges: least hurt by noise
        dictionary = aruco.getPredefinedDictionary(getattr(aruco, f"DICT_{self.dictionary}"))
        return aruco.ArucoDetector(dictionary, parameters)

    def find(self, picture: Picture, corners_m: Mapping[int, npt.ArrayLike]) -> PatternView:
        """Returns the corners of tags whose places are known, or why they tell nothing.

        Args:
            picture: The picture.
            corners_m: Number of a tag -> (4, 3) its corners, as `tag_corners_m` orders them, in a common frame.
        """
        import cv2

        if picture.fault:
            return PatternView(source=picture.source, reason=picture.fault)
        grey = cv2.cvtColor(np.ascontiguousarray(picture.pixels), cv2.COLOR_RGB2GRAY)
        found, ids, _ = self._detector.detectMarkers(grey)
        numbers = [] if ids is None else [int(number) for number in np.asarray(ids).reshape(-1)]
        repeated = sorted({number for number in numbers if numbers.count(number) > 1 and number in corners_m})
        if repeated:
            reason = f"tag {repeated[0]} is seen {numbers.count(repeated[0])} times by {picture.source}: take one away"
            return PatternView(source=picture.source, reason=reason)
        seen = {number: quad for number, quad in zip(numbers, found, strict=True) if number in corners_m}
        if not seen:
            wanted = ", ".join(map(str, sorted(corners_m)))
            reason = f"no tag is in view of {picture.source} (looked for: {wanted})"
            return PatternView(source=picture.source, reason=reason)
        order = sorted(seen)
        return PatternView(
            source=picture.source,
            size_px=(grey.shape[1], grey.shape[0]),
            numbers=np.repeat(order, 4).astype(np.intp),
            points_m=np.concatenate([np.asarray(corners_m[number], float) for number in order]),
            pixels=np.concatenate([np.asarray(seen[n], float).reshape(4, 2) for n in order]) + TAG_MIDDLE_PX,
        )


def tag_corners_m(figures: TagFigures) -> Array:
    """Returns the corners of a tag in its plate's frame: upper left, upper right, lower right, lower left, (4, 3)."""
    half_m = figures.side_m / 2
    signs = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    return np.column_stack([signs * half_m, np.full(4, figures.size_m[2] / 2)])


def _least_apart(pixels: Array) -> float:
    """Returns the median distance of a corner from its nearest neighbour."""
    apart = np.linalg.norm(pixels[:, None] - pixels[None], axis=2) + np.where(np.eye(len(pixels)), np.inf, 0.0)
    return float(np.median(apart.min(axis=1)))
