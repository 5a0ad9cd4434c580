"""`cellwright look`: a picture through a camera of a cell."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from cellwright.cells import Cell, cell_hints, nominal_cameras
from cellwright.cli.output import prepare_output, print_json, say, tell_hints
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.extras import need_extra
from cellwright.core.files import refuse_existing
from cellwright.core.messages import CameraInfo, CameraPose, Depth, Image
from cellwright.drawings import Drawings
from cellwright.drawings.recognition import recognition_model
from cellwright.lab.cell_file import read_cell
from cellwright.perception.picture import Picture, read_picture
from cellwright.perception.recognition import OverheadRecogniser, annotated
from cellwright.rendering import save_png
from cellwright.sensors import SENSORS, ImageCamera, make_sensor, sensor_label
from cellwright.sim import World

__all__ = ["camera_line", "look", "take_camera_picture", "usual_file"]


def look(
    cell: Annotated[str, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")],
    camera: Annotated[str, typer.Option(help="A camera of the cell, or a sensor that takes pictures.")],
    out: Annotated[Path | None, typer.Option(help="The PNG file; out/<camera>.png, or the next number.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    depth: Annotated[bool, typer.Option("--depth", help="Depths, not colours: 16 bits, whole mm, 0 = none.")] = False,
    detect: Annotated[
        bool, typer.Option("--detect", help="Recognise what is seen: outlines in the picture, and a table.")
    ] = False,
    exposure: Annotated[float | None, typer.Option(help="Factor of the light; the camera's own by default.")] = None,
    noise: Annotated[float | None, typer.Option(help="Standard deviation of the colours, or of depths in m.")] = None,
    binning: Annotated[int, typer.Option(help="Pixels along each axis that become one: 1, 2, 4 or 8.")] = 1,
    seed: Annotated[int, typer.Option(help="Decides the actual layout and the noise.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Takes a picture with a camera of a cell, as its sensor would, and writes it to a PNG file.

    The picture is taken where the camera really is, through its real lens; what is told of it is what was calibrated.
    """
    if detect and depth:
        raise BadInput("look: --detect needs colours; leave out --depth")
    if detect:
        need_extra("look --detect", "vision", "cv2")
    if out is not None and out.suffix.lower() != ".png":
        raise BadInput(f"look writes PNG files: {out} should end in .png")
    loaded = read_cell(cell, seed)
    if not overwrite:
        refuse_existing(out)
    changed: dict[str, Any] = {} if exposure is None else {"exposure": exposure}
    if noise is not None:
        changed["noise"] = [{"model": "gaussian_depth", "sd_m": noise} if depth else {"model": "gaussian", "sd": noise}]
    if binning != 1:
        changed["binning"] = binning
    line = camera_line(loaded, camera, depth=depth, **changed)
    out = out or usual_file(camera, overwrite=overwrite)
    prepare_output(out)
    tell_hints(cell_hints(loaded))
    pair = next((one for one in _picture_lines(loaded) if _is_pair(one, camera)), None) if detect else None
    if pair is not None:
        from cellwright.cli.look_stereo import look_by_stereo

        told = look_by_stereo(World(loaded, seed), {**pair, **changed}, out, Drawings.of(loaded))
    else:
        told = take_camera_picture(World(loaded, seed), line, out, Drawings.of(loaded) if detect else None)
    if as_json:
        print_json({"cell": cell, "seed": seed, "camera": camera, "file": out, **told})
    else:
        reach = "" if told["kind"] == "colours" else ", {:.3f} to {:.3f} m".format(*told["range_m"])
        say(f"{out} ({told['width']} x {told['height']}{reach}, renderer {told['renderer']})")
        for one in told.get("detections", ()):
            place = "{:8.4f} {:8.4f}".format(*one["xy_m"])
            turn = "" if one["yaw_deg"] is None else f"{one['yaw_deg']:7.1f} deg"
            say(f"{one['sku']:28} {place} m {turn:11}  score {one['score']:.2f}")
        for reason in told.get("reasons", ()):
            say(reason)
        if detect and not told["detections"] and not told["reasons"]:
            say("nothing was recognised")


def camera_line(cell: Cell, camera: str, *, depth: bool, **changed: Any) -> dict[str, Any]:
    """Returns the line of a sensor that takes pictures: the cell's own of that name, or one for its camera."""
    wanted = "depth_camera" if depth else "color_camera"
    own = {str(line.get("name") or line.get("camera") or line.get("robot")): line for line in _picture_lines(cell)}
    if camera in own:
        line = {**own[camera], "type": wanted, "rate_hz": 0.0}
        if own[camera]["type"] == "stereo_camera":
            line["camera"] = line.pop("left")
            line.pop("right")
        if own[camera]["type"] != wanted:
            line = {key: value for key, value in line.items() if key not in ("noise", "with_points", "with_color")}
        return {**line, **changed}
    cameras = nominal_cameras(cell)
    if camera not in cameras:
        raise UnknownName("camera", camera, [*cameras, *own], cell.where)
    return {"type": wanted, "camera": camera, **changed}


def _is_pair(line: Mapping[str, Any], camera: str) -> bool:
    """Returns whether a sensor is a stereo camera of that name, or has a camera of that name."""
    return line["type"] == "stereo_camera" and camera in (line.get("name"), line["left"], line["right"])


def take_camera_picture(
    world: World, line: dict[str, Any], out: Path, drawings: Drawings | None = None
) -> dict[str, Any]:
    """Takes a picture, writes it, and returns what is told of it; with drawings, also what is recognised in it."""
    sensor = make_sensor(line, world, f"camera {sensor_label(line)}")
    if not isinstance(sensor, ImageCamera):
        raise BadInput(f"{world.cell.where}: {sensor_label(line)} takes no pictures")
    message, beside = sensor.taken()
    info = next(other for _, other in beside if isinstance(other, CameraInfo))
    place = next(other for _, other in beside if isinstance(other, CameraPose))
    told: dict[str, Any] = {
        "kind": "colours",
        "width": sensor.viewfinder.size_px[0],
        "height": sensor.viewfinder.size_px[1],
        "renderer": sensor.renderer.name,
        "matrix": info.matrix,
        "frame": place.frame,
        "position_m": place.position,
        "quaternion": place.quaternion,
    }
    if isinstance(message, Depth):
        seen = message.depth_m[np.isfinite(message.depth_m)]
        told |= {"kind": "depths", "range_m": [float(seen.min()), float(seen.max())] if seen.size else [0.0, 0.0]}
        save_png(millimetres(message.depth_m), out)
    elif isinstance(message, Image):
        told["clipped"] = float((message.pixels == 255).any(axis=2).mean())
        if drawings is None:
            save_png(message.pixels, out)
        else:
            told |= _recognised(read_picture(message, info, place), place.frame, drawings, out)
    return told


def _recognised(picture: Picture, frame: str, drawings: Drawings, out: Path) -> dict[str, Any]:
    """Writes the picture with what is recognised in it, and returns that."""
    if frame != "world":
        raise BadInput(f"look: {picture.source} is on a flange; --detect needs a camera whose place is known")
    found = OverheadRecogniser(recognition_model(drawings)).recognise(picture)
    save_png(annotated(picture, found), out)
    rows = zip(found.skus, found.positions, found.quaternions, found.variances, found.scores.tolist(), strict=True)
    return {
        "detections": [
            {
                "sku": sku,
                "xy_m": position[:2].tolist(),
                "yaw_deg": float(np.degrees(2 * np.arctan2(turn[3], turn[0]))) if np.isfinite(variances[5]) else None,
                "sd_m": float(np.sqrt(variances[0])),
                "score": score,
            }
            for sku, position, turn, variances, score in rows
        ],
        "reasons": list(found.faults),
    }


def millimetres(depth_m: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Returns depths in whole millimetres, 0 where there is none."""
    return np.where(np.isfinite(depth_m), np.clip(np.round(depth_m * 1000), 0, 65535), 0).astype(np.uint16)


def usual_file(name: str, *, overwrite: bool) -> Path:
    """Returns the file of a picture: the usual name, or the first free number of it."""
    usual = Path(f"out/{name}.png")
    numbered = (usual.with_stem(f"{usual.stem}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([usual], numbered) if overwrite or not path.exists())


def _picture_lines(cell: Cell) -> list[dict[str, Any]]:
    """Returns the lines of the cell's sensors that take pictures."""
    lines = [line for _, line in cell.sensor_lines() if str(line.get("type")) in SENSORS]
    return [line for line in lines if issubclass(SENSORS.get(line["type"]), ImageCamera)]
