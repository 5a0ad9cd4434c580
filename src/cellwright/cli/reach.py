"""`cellwright reach`: where a robot's base may stand to take an object."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import Quiet, err, prepare_output, print_json, say, table, take_folder, tell
from cellwright.cli.progress import Progress
from cellwright.core.errors import OutputError, UnknownName
from cellwright.experiments.plots import can_plot, draw
from cellwright.experiments.reachability import WEIGHTS, ReachMap, default_grid, map_reach, reach_task
from cellwright.experiments.report import number_text, write_table
from cellwright.lab.cell_file import read_cell

__all__ = ["reach"]


def reach(
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")],
    robot: Annotated[str | None, typer.Option(help="The robot; the cell's first by default.")] = None,
    part: Annotated[str | None, typer.Option("--object", help="The part to take; the cell's first by default.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for reachability.csv and .png; out/reach, or the next number.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    step: Annotated[float, typer.Option(help="Spacing of the places of the base, in m.")] = 0.1,
    turns: Annotated[int, typer.Option(help="Angles about the part's axis.")] = 181,
    weight: Annotated[str, typer.Option(help=f"What the map shows: {', '.join(WEIGHTS)}.")] = "free",
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes; all cores by default.")] = None,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> int:
    """Counts collision-free postures that take a part from above and from the side, over a grid about the base."""
    if weight not in WEIGHTS:
        raise UnknownName("weight", weight, WEIGHTS)
    task = reach_task(read_cell(cell), robot, part, turns=turns, weighted=weight != "free")
    grid = default_grid(task.pose_base_in_world, step)
    folder = take_folder(out, Path("out/reach"), ["reachability.csv"], overwrite=overwrite)
    prepare_output(folder / "reachability.csv")
    tell(f"{task.robot} takes {task.part}: {turns} angles at every place of its base")
    if not can_plot():
        say("there will be no picture: pip install 'cellwright[plots]'", to=err)
    with Progress("places") as progress:
        found = map_reach(task, grid, workers, progress.update)
    files = _save(found, weight, folder)
    rows = []
    for kind in task.heights_m:
        best = found.best(kind, weight)
        rows.append((str(kind), found.total(kind, "solutions"), found.total(kind, weight), best.x_m, best.y_m))
    if as_json:
        names = ("grasp", "solutions", "total", "best_x_m", "best_y_m")
        maps = [dict(zip(names, row, strict=True)) for row in rows]
        print_json({"cell": cell, "robot": task.robot, "object": task.part, "weight": weight, "maps": maps}
                   | {"places": len(found.rows) // len(rows), "files": files})  # fmt: skip
        return 0
    columns = ["grasp", "postures [n]", f"{weight} [-]", "best x [m]", "best y [m]"]
    title = f"{task.robot} takes {task.part}: {len(found.rows) // len(rows)} places, {turns} angles"
    table(title, columns, [(row[0], *map(number_text, row[1:])) for row in rows], markup=False)
    say(", ".join(str(file) for file in files))
    return 0


def _save(found: ReachMap, weight: str, folder: Path) -> list[Path]:
    files = [folder / "reachability.csv"]
    try:
        write_table(found.table(), files[0])
        if can_plot():
            files.append(folder / "reachability.png")
            files[1].write_bytes(draw(found.heatmap(weight), "png"))
    except OSError as error:
        raise OutputError(error.filename or folder, error.strerror or str(error)) from None
    return files
