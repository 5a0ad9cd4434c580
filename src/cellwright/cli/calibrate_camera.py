"""`cellwright calibrate CELL --camera NAME`: intrinsics and poses of cameras, by a board that is shown and tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellwright.cli.output import err, print_json, say, table
from cellwright.cli.progress import Progress
from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.cells import Cell
    from cellwright.trials.camera_calibration import CameraRun

__all__ = ["calibrate_camera"]


def calibrate_camera(
    cell: Cell,
    cameras: Sequence[str],
    out: Path,
    *,
    label: str,
    seed: int,
    holder: str | None,
    tags: Sequence[tuple[float, float]],
    before: Path | None,
    as_json: bool,
) -> None:
    """Calibrates cameras of a cell, writes the file, and prints what was found.

    Raises:
        BadInput: What cannot be done.
        JobFailed: What was seen is not enough, or contradicts itself; nothing is written.
    """
    from cellwright.drawings.calibration import drawn_places
    from cellwright.drawings.prior import Drawings
    from cellwright.perception.calibration import read_calibration, write_calibration
    from cellwright.perception.calibration.files import check_places
    from cellwright.trials.camera_calibration import calibrate_cameras

    places = drawn_places(Drawings.of(cell))
    known = None if before is None else read_calibration(before, places)
    with Progress("calibrating cameras") as progress:
        run = calibrate_cameras(cell, cameras, seed, holder=holder, given=tags, before=known, say=progress.say)
    check_places(run.fitted.calibration, places, out)
    write_calibration(run.fitted.calibration, out)
    if as_json:
        print_json(_report(label, seed, run, out))
    else:
        _tables(run)
        say(f"{out}")
    for line in run.fitted.notes:
        say(line, to=err)


def _away(run: CameraRun, name: str) -> Pose:
    """Returns where a camera is relative to its drawing, in the camera's own axes (x ahead, y left, z up)."""
    drawn = next(camera for camera in run.cameras if camera.name == name).camera
    return drawn.pose_in_world.inverse() @ run.fitted.calibration.cameras[name].pose_of_camera


def _report(cell: str, seed: int, run: CameraRun, out: Path) -> dict[str, Any]:
    calibration = run.fitted.calibration
    return {
        "cell": cell,
        "seed": seed,
        "done": True,
        "file": str(out),
        "sim_s": run.measured.duration_s,
        "cameras": {
            camera.name: calibration.cameras[camera.name].model_dump(mode="json")
            | {
                "from_drawing": {
                    "shift_mm": (1000 * _away(run, camera.name).position).tolist(),
                    "turn_deg": np.degrees(_away(run, camera.name).rpy).tolist(),
                },
                "focal_sd_px": run.fitted.intrinsics[camera.name].focal_sd_px,
                "view_residuals_px": [
                    None if np.isnan(x) else float(x) for x in run.fitted.intrinsics[camera.name].view_rms_px
                ],
            }
            for camera in run.cameras
        },
        "pairs": [pair.model_dump(mode="json") for pair in calibration.camera_pairs],
        "notes": list(run.fitted.notes),
    }


def _tables(run: CameraRun) -> None:
    calibration, names = run.fitted.calibration, [camera.name for camera in run.cameras]
    rows = []
    for camera in run.cameras:
        own = calibration.cameras[camera.name]
        middle = np.array(own.resolution_px) / 2
        rows.append(
            (
                camera.name,
                f"{own.focal_px[0]:.2f}",
                f"{100 * (own.focal_px[0] / camera.camera.focal_px - 1):+.3f}",
                *(f"{x:+.2f}" for x in np.array(own.centre_px) - middle),
                f"{own.distortion[0]:+.5f}",
                own.views,
                f"{own.residual_px:.3f}",
            )
        )
    columns = ["camera", "focal [px]", "[%]", "x [px]", "y [px]", "k1", "views", "left [px]"]
    table("Intrinsics; focal length from drawn in %, axis from the middle", columns, rows, markup=False)
    rows = []
    for name in names:
        own, away = calibration.cameras[name], _away(run, name)
        rows.append(
            (
                name,
                *(f"{1000 * x:.2f}" for x in away.position),
                *(f"{x:.3f}" for x in np.degrees(away.rpy)),
            )
        )
    columns = ["camera", "ahead [mm]", "left [mm]", "up [mm]", "roll [deg]", "pitch [deg]", "yaw [deg]"]
    table("Poses, from the drawings, in the camera's axes", columns, rows, markup=False)
    for name in names:
        own = calibration.cameras[name]
        left = f"{1000 * own.pose_residual_m:.2f} mm left, deviation {1000 * own.pose_sd_m:.2f} mm"
        say(f"{name}: by {own.by}, {left}, {own.pose_sd_deg:.3f} deg")
    if calibration.camera_pairs:
        rows = [
            (
                f"{pair.left}, {pair.right}",
                *(f"{1000 * x:.3f}" for x in pair.pose_right_in_left.xyz_m),
                *(f"{x:.3f}" for x in pair.pose_right_in_left.rpy_deg),
                f"{pair.epipolar_px:.3f}",
            )
            for pair in calibration.camera_pairs
        ]
        title = "Pairs: the right camera in the left picture's frame [mm, deg], and rows that are apart [px]"
        table(title, ["pair", "right", "down", "ahead", "x", "y", "z", "rows"], rows, markup=False)
