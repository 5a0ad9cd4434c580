"""Recognition of parts and trays in one picture from above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.core.extras import need_extra
from cellwright.perception.picture import Picture
from cellwright.perception.recognition.circles import guess_circles, top_view
from cellwright.perception.recognition.clean import SmallPicture, noise_sd
from cellwright.perception.recognition.disc_fit import refit_discs
from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.recognition.model import RecognitionModel
from cellwright.perception.recognition.recognised import Recognised
from cellwright.perception.recognition.round_fit import FittedCircle, fit_circles
from cellwright.perception.recognition.seen import SeenObject, pick_parts, seen_tray
from cellwright.perception.recognition.trays import TrayFinder
from cellwright.perception.support import Surface

__all__ = ["OverheadRecogniser"]

Array = npt.NDArray[np.float64]
FINE, COARSE = 20, 10  # pixels in the smallest radius, where edges are fitted, and where they are looked for
NOISY = 0.04
MOST_SLANT_RAD = float(np.radians(35))  # of a camera above: seen from farther aside a disc is a narrow ellipse
LEAST_PX = 6.0  # radius of the smallest part or slot in the picture: below, nothing can be told
LEAST_SLOT = 0.45  # share of a circle that may be a slot; the pattern decides


class OverheadRecogniser:
    """Recognises round parts and trays from above: class, place and rotation, on tables of known height.

    It knows the drawings and the picture. What is hidden is not reported, what is partly hidden has a lower score.

    Args:
        drawn: The figures of parts and trays, and the tables.

    Raises:
        MissingExtra: OpenCV is not installed.
    """

    def __init__(self, drawn: RecognitionModel) -> None:
        need_extra("recognition in pictures", "vision", "cv2")
        self.drawn = drawn
        slots = {slot.mouth_radius_m for tray in drawn.trays for slot in tray.slots}
        self._radii_m = sorted({outline.radius_m for outline in drawn.outlines} | slots)

    def recognise(self, picture: Picture) -> Recognised:
        """Returns what is recognised in a picture; of one that cannot be used, nothing, and the reason."""
        fault = picture.fault
        if fault:
            return Recognised.nothing(picture.source, picture.time_s, fault)
        if not self._radii_m or not self.drawn.surfaces:
            return Recognised.nothing(
                picture.source, picture.time_s, "the drawings have no round part, no slot or no table to look for"
            )
        down = -float(picture.pose_camera_in_world.rotation_matrix[2, 2])
        if down < np.cos(MOST_SLANT_RAD):
            slant_deg = np.degrees(np.arccos(np.clip(down, -1.0, 1.0)))
            return Recognised.nothing(
                picture.source,
                picture.time_s,
                f"{picture.source} looks {slant_deg:.0f} degrees off straight down; up to "
                f"{np.degrees(MOST_SLANT_RAD):.0f} degrees things are recognised from above",
            )
        lens, sd = CalibratedLens(picture), noise_sd(picture.pixels)
        seen: list[SeenObject] = []
        faults = []
        for surface in self.drawn.surfaces:
            found, why = self._on_surface(picture, lens, surface, sd)
            seen += found
            faults += [why] if why else []
        if len(faults) < len(self.drawn.surfaces):
            faults = []
        return self._result(picture, lens, seen, faults)

    def _on_surface(
        self, picture: Picture, lens: CalibratedLens, surface: Surface, sd: float
    ) -> tuple[list[SeenObject], str]:
        """Returns what is seen on one table, or why nothing can be."""
        height_m = surface.height_m + self._usual_m
        pixel_m = (lens.eye_m[2] - height_m) / lens.focal_px
        smallest_m = self._radii_m[0]
        if pixel_m <= 0 or smallest_m / pixel_m < LEAST_PX:
            return [], f"{picture.source} shows the table at {surface.height_m:g} m too small, or not from above"
        factor = max(1, int(smallest_m / FINE / pixel_m))
        if min(lens.size_px) * pixel_m < 2 * smallest_m:
            return [], f"the picture of {picture.source} shows less than the smallest part: is it cut off?"
        coarse = SmallPicture(picture.pixels, 2 * factor, 0.7 if sd > NOISY else 0.0, sd)
        fine = SmallPicture(picture.pixels, factor, 1.2 if sd > NOISY else 0.6, sd)
        view = top_view(coarse, lens, surface, height_m, max(smallest_m / COARSE, pixel_m))
        if view is None:
            return [], f"the table at {surface.height_m:g} m is not in the picture of {picture.source}"
        circles = fit_circles(fine, lens, guess_circles(view, self._radii_m), view.height_m)
        discs = refit_discs(fine, lens, circles, self.drawn.outlines, view.height_m)
        boards = TrayFinder(self.drawn, fine, lens, surface, view.height_m).find(_distinct([*discs, *circles]))
        parts = pick_parts(discs, boards, self.drawn.outlines, lens, surface, view.height_m)
        return [*(seen_tray(board, surface) for board in boards), *parts], ""

    @property
    def _usual_m(self) -> float:
        """The height above a table at which most outlines are."""
        heights = [(outline.seat_m or -outline.bottom_m) + outline.middle_m for outline in self.drawn.outlines]
        return float(np.median(heights or [tray.thickness_m for tray in self.drawn.trays]))

    def _result(
        self, picture: Picture, lens: CalibratedLens, seen: Sequence[SeenObject], faults: Sequence[str]
    ) -> Recognised:
        if not seen:
            return Recognised.nothing(picture.source, picture.time_s, *faults)
        rows = sorted(seen, key=lambda one: (one.sku, -one.score))
        quaternions = np.zeros((len(rows), 4))
        half = np.array([one.yaw_rad for one in rows]) / 2
        quaternions[:, 0], quaternions[:, 3] = np.cos(half), np.sin(half)
        return Recognised(
            source=picture.source,
            time_s=picture.time_s,
            skus=tuple(one.sku for one in rows),
            positions=np.array([one.xyz_m for one in rows]),
            quaternions=quaternions,
            variances=np.array([one.variances for one in rows]),
            scores=np.array([one.score for one in rows]),
            outlines_px=tuple(lens.pixels(one.outline_m) for one in rows),
            faults=tuple(faults),
        )


def _distinct(circles: Sequence[FittedCircle]) -> list[FittedCircle]:
    """Returns circles that are seen well enough to be slots, each once."""
    found: list[FittedCircle] = []
    for circle in sorted(circles, key=lambda one: -one.share):
        same = (
            np.hypot(*(circle.xy_m - other.xy_m)) < 0.1 * circle.radius_m
            and abs(circle.radius_m / other.radius_m - 1) < 0.04
            for other in found
        )
        if circle.share >= LEAST_SLOT and not any(same):
            found.append(circle)
    return found
