"""The calibration of cameras of a simulated cell: a person with a board, and the ports of a controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.drawings.calibration import calibrated_drawings
from cellwright.drawings.cameras import named_cameras
from cellwright.drawings.prior import Drawings
from cellwright.interfaces.crcl import CrclInterface
from cellwright.lab.lab import Lab
from cellwright.perception.calibration import Calibration, DrawnCamera
from cellwright.perception.camera_calibration import need_vision
from cellwright.trials.camera_calibration.fitting import FittedCameras, fit_cameras
from cellwright.trials.camera_calibration.lab_hands import LabHands, tag_parts
from cellwright.trials.camera_calibration.procedure import CameraMeasurements, measure_cameras
from cellwright.trials.camera_calibration.tags import tag_places
from cellwright.trials.lab_ports import lab_ports

__all__ = ["CameraRun", "calibrate_cameras"]

PARTIAL = ("region_px", "binning", "rate_hz", "with_points", "with_color", "type")


@dataclass(frozen=True)
class CameraRun:
    """A calibration of cameras that was done.

    Attributes:
        fitted: The result.
        measured: What it was made of.
        cameras: The cameras as drawn.
    """

    fitted: FittedCameras
    measured: CameraMeasurements
    cameras: tuple[DrawnCamera, ...]


def calibrate_cameras(
    cell: Cell,
    names: Sequence[str],
    seed: int = 0,
    *,
    holder: str | None = None,
    given: Sequence[tuple[float, float]] = (),
    before: Calibration | None = None,
    noise_sd: float | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> CameraRun:
    """Calibrates cameras of a cell: intrinsics by a board that is shown, poses by tags or by a robot that moves.

    Args:
        cell: The cell.
        names: Of cameras, or of sensors that take pictures.
        seed: Decides the actual layout, and how far boards are beside where they are wanted.
        holder: The robot that holds the board for fixed cameras; without one, tags are put on the tables.
        given: Places for tags in the world, x and y.
        before: A calibration whose robots and tables count, and which is kept.
        noise_sd: Noise of the pictures; that of the cameras by default.
        say: Told what is going on.

    Raises:
        BadInput: What cannot be done at all; nothing has moved.
        JobFailed: A camera that sees too little, or what was seen contradicts itself.
    """
    need_vision()
    drawings = Drawings.of(cell)
    cameras, pairs = named_cameras(drawings, names)
    if holder is not None:
        drawings.named_robots([holder])
    corrected = drawings if before is None else calibrated_drawings(drawings, before)
    fixed = [camera for camera in cameras if camera.robot is None]
    tags = tag_places(corrected, cameras, given) if fixed and holder is None else {}
    if given and not tags:
        raise BadInput("--tag is for fixed cameras without --robot: tags tell where those are")
    new = {n: pose for n, pose in tags.items() if f"calibration_tag_{n}" not in cell.parts}
    drawn = {part.model for part in drawings.layout.parts}
    new = {n: pose for n, pose in new.items() if f"calibration_tag_{n}" not in drawn}
    with Lab.from_cell(cell.changed({"parts": tag_parts(new)}) if new else cell, seed) as lab:
        hands = LabHands(lab.world, {camera.name: _line(cell, camera, noise_sd) for camera in cameras}, seed)
        ports = replace(lab_ports(lab, CrclInterface(lab), drawings=drawings), drawings=corrected)
        measured = lab.perform(measure_cameras(ports, hands, cameras, holder, tags, say))
    made = f"cellwright calibrate {cell.name} --seed {seed}: {', '.join(camera.name for camera in cameras)}"
    return CameraRun(fit_cameras(drawings, measured, pairs, before, made), measured, tuple(cameras))


def _line(cell: Cell, camera: DrawnCamera, noise_sd: float | None) -> Mapping[str, Any]:
    """Returns the line of a sensor that takes whole pictures of a camera, in colours."""
    own: Mapping[str, Any] = {"camera": camera.name}
    if camera.robot is not None:
        lines = [line for _, line in cell.sensor_lines() if line.get("robot") == camera.robot]
        own = next(line for line in lines if str(line.get("name") or camera.robot) == camera.name)
    kept = {key: value for key, value in own.items() if key not in PARTIAL}
    if own.get("type") == "depth_camera":
        kept.pop("noise", None)
    noise = {} if noise_sd is None else {"noise": [{"model": "gaussian", "sd": noise_sd}]}
    return {**kept, "type": "color_camera", **noise}
