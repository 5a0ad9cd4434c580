"""`cellwright calibrate`: the registration of robots and detectors of a cell, by marks that are seen and touched.

With `--camera` cameras are calibrated instead, by a board that is shown to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from cellwright.cli.numbers import numbers
from cellwright.cli.output import Quiet, err, prepare_output, print_json, say, table, tell
from cellwright.cli.progress import Progress
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing

if TYPE_CHECKING:
    from cellwright.drawings.prior import Drawings
    from cellwright.trials.registration import CalibrationRun

__all__ = ["calibrate"]


def calibrate(
    cell: Annotated[str | None, typer.Argument(help="A cell's name, or a YAML file.")] = None,
    out: Annotated[Path | None, typer.Option(help="The calibration file to write.")] = None,
    robot: Annotated[
        list[str] | None,
        typer.Option(help="A robot to calibrate; again for another. All by default. With --camera: holds the board."),
    ] = None,
    mark: Annotated[
        list[str] | None, typer.Option(help="A place for a mark, x,y in m; again for others. Free places by default.")
    ] = None,
    camera: Annotated[
        list[str] | None,
        typer.Option(help="Instead: a camera to calibrate, or a sensor that takes pictures; again for another."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="With --camera: a place for a tag, x,y in m; again for others.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="With --camera: a calibration file whose robots count, and which is kept.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the actual layout.")] = 0,
    fit: Annotated[
        Path | None,
        typer.Option(help="Instead: fit the pairs of a CSV of the APRS laboratory, print what is left."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--map", help="With --fit: draw the compensation over the table, a PNG file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> int:
    """Puts marks into the cell, looks at them, has the robots touch them, fits, and writes a calibration file.

    With --camera a board is shown to cameras instead, and tags or a robot tell where they are.

    Exit 0: done. 1: a mark, board or tag was not seen, not felt or moved, or fits too badly. 2: bad input.
    """
    if fit is not None:
        from cellwright.cli.calibrate_fit import fit_file

        if cell is not None or out is not None:
            raise BadInput("--fit FILE fits a file that was measured; leave CELL and --out away")
        fit_file(fit, picture=picture, as_json=as_json)
        return 0
    if cell is None or out is None or picture is not None:
        raise BadInput("give CELL and --out FILE to calibrate a cell, or --fit FILE, with --map PNG, to fit a file")
    from cellwright.drawings.prior import Drawings
    from cellwright.lab.cell_file import read_cell
    from cellwright.perception.calibration import write_calibration
    from cellwright.trials.registration import calibrate_cell

    if camera and mark:
        raise BadInput("--mark is for robots; with --camera, --tag x,y names places")
    if not camera and (tag or calibration):
        raise BadInput("--tag and --calibration go with --camera")
    loaded = read_cell(cell, seed)
    drawings = Drawings.of(loaded)
    robots = drawings.named_robots(robot) if robot or not camera else ()
    if camera and len(robots) > 1:
        raise BadInput("with --camera one --robot holds the board, not several")
    places = [tuple(numbers("--mark", text, (2,))) for text in mark or ()]
    if out.is_dir():
        raise BadInput(f"{out}: a folder; --out takes the name of a file")
    if not overwrite:
        refuse_existing(out)
    tags = [(x, y) for x, y in (numbers("--tag", text, (2,)) for text in tag or ())]
    if not out.parent.exists():
        tell(f"the folder {out.parent} is new")
    prepare_output(out)
    if camera:
        from cellwright.cli.calibrate_camera import calibrate_camera

        holder = robots[0] if robots else None
        calibrate_camera(
            loaded, camera, out, label=cell, seed=seed, holder=holder, tags=tags, before=calibration, as_json=as_json
        )
        return 0
    with Progress("calibrating") as progress:
        run = calibrate_cell(loaded, robots, seed, places, progress.say)  # type: ignore[arg-type]
    fitted = run.fitted
    if not fitted.problems:
        write_calibration(fitted.calibration, out)
    if as_json:
        print_json(_report(cell, seed, drawings, run, out))
    else:
        _tables(drawings, run)
        say(f"calibrated in {run.measured.duration_s:.0f} s, {out}" if not fitted.problems else "nothing was written")
    for line in (*fitted.notes, *fitted.problems):
        say(line, to=err)
    return 1 if fitted.problems else 0


def _report(cell: str, seed: int, drawings: Drawings, run: CalibrationRun, out: Path) -> dict[str, Any]:
    calibration = run.fitted.calibration
    return {
        "cell": cell,
        "seed": seed,
        "done": not run.fitted.problems,
        "file": None if run.fitted.problems else str(out),
        "sim_s": run.measured.duration_s,
        "robots": {name: dict(zip(("base", "tool_mm"), row, strict=True)) for name, *row in _robots(drawings, run)},
        "detectors": {
            name: {
                "shift_mm": (1000 * _shift_m(drawings, name, run)).tolist(),
                "turn_deg": float(np.degrees(one.rigid.pose.rpy[2])),
                "scale": one.scale,
                "residual_mm": 1000 * one.residual_m,
            }
            for name, one in calibration.detectors.items()
        },
        "surfaces": {
            name: {"height_m": one.height_m, "tilt_deg": list(one.tilt_deg), "residual_mm": 1000 * one.residual_m}
            for name, one in calibration.surfaces.items()
        },
        "pairs": [
            {"of": pairs.source, "to": pairs.target, "mark": pair.name, "residual_mm": 1000 * pair.residual_m}
            | {"from_m": list(pair.from_m), "to_m": list(pair.to_m), "rejected": pair.rejected}
            for pairs in calibration.pair_sets
            for pair in pairs.pairs
        ],
        "notes": list(run.fitted.notes),
        "problems": list(run.fitted.problems),
    }


def _robots(drawings: Drawings, run: CalibrationRun) -> list[tuple[str, dict[str, list[float]], list[float]]]:
    """Returns robot, how far its base is from its drawing, and its tool beside the tool's point."""
    rows = []
    for name, one in run.fitted.calibration.robots.items():
        away = drawings.layout.bases[name].inverse() @ one.base.pose
        base = {"shift_mm": (1000 * away.position).tolist(), "turn_deg": np.degrees(away.rpy).tolist()}
        rows.append((name, base, (1000 * one.tool.pose.position[:2]).tolist()))
    return rows


def _shift_m(drawings: Drawings, detector: str, run: CalibrationRun) -> np.ndarray:
    """Returns how far the rigid correction of a detector moves the middle of the marks that it sees."""
    seen = run.measured.seen[detector]
    middle = np.mean([sighting.foot_m for sighting in seen.values()], axis=0)
    one = run.fitted.calibration.detectors[detector]
    return np.asarray(one.similarity.apply(middle) - middle)


def _tables(drawings: Drawings, run: CalibrationRun) -> None:
    calibration = run.fitted.calibration
    rows = [
        (pairs.source, pairs.target, pair.name)
        + tuple(f"{1000 * (b - a):.2f}" for a, b in zip(pair.from_m, pair.to_m, strict=True))
        + (f"{1000 * pair.residual_m:.2f}", pair.rejected and "left out")
        for pairs in calibration.pair_sets
        if pairs.source in calibration.detectors
        for pair in pairs.pairs
    ]
    columns = ["of", "to", "mark", "x [mm]", "y [mm]", "z [mm]", "left [mm]", ""]
    table("Marks: felt from seen", columns, rows, markup=False)
    rows = [
        (pairs.source, pairs.target, pair.name, f"{1000 * pair.residual_m:.2f}", pair.rejected and "left out")
        for pairs in calibration.pair_sets
        if pairs.source in calibration.robots
        for pair in pairs.pairs
    ]
    if rows:
        table("Marks that two robots felt", ["of", "to", "mark", "left [mm]", ""], rows, markup=False)
    rows = []
    for name, base, tool_mm in _robots(drawings, run):
        rows += [(f"{name}: base", *_three(base["shift_mm"], 2), *_three(base["turn_deg"], 3), "")]
        rows += [(f"{name}: tool", *_three([*tool_mm, 0.0], 2), *_three([0.0] * 3, 3), "")]
    for name, one in calibration.detectors.items():
        turn_deg = np.degrees(one.rigid.pose.rpy).tolist()
        shift_mm = (1000 * _shift_m(drawings, name, run)).tolist()
        rows += [(name, *_three(shift_mm, 2), *_three(turn_deg, 3), f"{1000 * one.residual_m:.2f}")]
    for name, surface in calibration.surfaces.items():
        tilt = *(f"{angle:.3f}" for angle in surface.tilt_deg), ""
        rows += [(name, "", "", f"{1000 * surface.height_m:.2f}", *tilt, f"{1000 * surface.residual_m:.2f}")]
    columns = ["from the drawings", "x [mm]", "y [mm]", "z [mm]", "roll [deg]", "pitch [deg]", "yaw [deg]", "left [mm]"]
    table("Corrections; of table tops the height", columns, rows, markup=False)


def _three(values: list[float], places: int) -> tuple[str, ...]:
    return tuple(f"{value:.{places}f}" for value in values)
