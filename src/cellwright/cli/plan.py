"""`cellwright plan`: from an order and a cell to validated steps, as a table, as JSON, as PDDL files, as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cellwright.cells import nominal_layout
from cellwright.cli.names import split_names
from cellwright.cli.output import counted, err, prepare_output, print_json, say
from cellwright.cli.pddl_files import PddlWriter, write_pddl
from cellwright.cli.plan_check import check_files
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.extras import need_extra
from cellwright.drawings.database import planning_database
from cellwright.knowledge.pddl import MAIN_VOCABULARY, WITHOUT_SLOTS, Parts, PddlForm
from cellwright.lab.cell_file import read_cell
from cellwright.orders import find_order, order_json_schema
from cellwright.planning import (
    PlanRequest,
    PlanResult,
    PlanStatus,
    PlanValidation,
    make_planner,
    validate_timed,
    write_gantt,
)
from cellwright.planning import as_json as plan_as_json
from cellwright.planning import plan as make_plan
from cellwright.planning.belief import request_of
from cellwright.planning.external import PlannerDialect, ProcessLimits

__all__ = ["plan"]

SHOWN = 60


def plan(
    context: typer.Context,
    cell: Annotated[str | None, typer.Argument(help="A cell's name, or a YAML file.")] = None,
    order: Annotated[
        list[str] | None, typer.Option(help="A kit's name or an order file; may be given several times.")
    ] = None,
    quantity: Annotated[int, typer.Option(min=1, max=10_000, help="How many of each kit that is given by name.")] = 1,
    robots: Annotated[
        str | None, typer.Option(help="Robots in service, such as fanuc,motoman; the cell's first by default.")
    ] = None,
    planner: Annotated[
        str | None,
        typer.Option(
            help="sequencer, scheduler, fast-downward, enhsp, one of the cell's plugins, "
            "or a command with {domain} {problem} {plan}."
        ),
    ] = None,
    form: Annotated[str, typer.Option(help="What a planner command reads: classical or numeric.")] = "classical",
    iterations: Annotated[int, typer.Option(min=0, max=10_000_000, help="Budget for finding better plans.")] = 400,
    limit: Annotated[float, typer.Option(min=0.1, help="Seconds after which an external planner is ended.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Decides which slots of the drawings hold parts.")] = 0,
    pddl: Annotated[Path | None, typer.Option(help="Folder for domain, problem and plan files.")] = None,
    words: Annotated[
        str | None,
        typer.Option(help="Print the plan in a vocabulary: 2012, 2014 or 2016; with --pddl only those files."),
    ] = None,
    parts: Annotated[str, typer.Option(help="In planning files: counted by kind, or named one by one.")] = "counted",
    check: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(metavar="DOMAIN PROBLEM PLAN", help="Check whether a plan file solves a problem; plans nothing."),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of order files and end.")] = False,
    gantt: Annotated[Path | None, typer.Option(help="PNG file for a chart of the plan.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Plans an order from the cell's drawings; exit 0 when everything that is wanted is planned and valid.

    With --check a plan file is checked instead; exit 0 when it is valid, 1 when not, with the step and the reason.
    """
    if check is not None:
        _refuse_others(context, "check")
        return check_files(*check, as_json=as_json)
    if schema:
        _refuse_others(context, "schema")
        print_json(order_json_schema())
        return 0
    for missing, name in ((cell, "argument 'CELL'"), (order, "option '--order'")):
        if not missing:
            raise BadInput(f"Missing {name} (see 'cellwright plan --help')")
    assert cell is not None
    assert order is not None
    if gantt is not None:
        need_extra("drawing a plan", "plots", "matplotlib")
    vocabularies, kind = _vocabularies(words), _one_of(parts, [part.value for part in Parts], "parts")
    loaded = read_cell(cell)
    orders = [find_order(name, quantity) for name in order]
    if len({wanted.name for wanted in orders}) < len(orders):
        raise BadInput("an order is given twice; use --quantity")
    named = split_names(robots, loaded.robots, "robot", loaded.where) if robots else list(loaded.robots)[:1]
    if gantt is not None:
        prepare_output(gantt)
    chosen = (
        make_planner(planner, form=PlannerDialect.named(form), limits=ProcessLimits(time_s=limit)) if planner else None
    )
    database, notes = planning_database(loaded, orders, named, nominal_layout(loaded, seed))
    try:
        request = request_of(database, orders, robots=named, iterations=iterations)
        result = make_plan(request, chosen)
        verdict = validate_timed(request, result)
        writer = PddlWriter(database, request, result, Parts(kind))
        files = write_pddl(pddl, writer, vocabularies) if pddl is not None else []
        lines = _lines(writer, vocabularies[0]) if vocabularies else None
        notes += dict.fromkeys(writer.notes) if pddl is not None or vocabularies else []
    finally:
        database.close()
    if gantt is not None and result.actions:
        write_gantt(result, gantt)
        files.append(gantt)
    if as_json:
        more = {"cell": loaded.name, "notes": notes, "files": files} | ({} if lines is None else {"plan": lines})
        print_json(plan_as_json(request, result, verdict) | more)
    else:
        for note in notes:
            say(note, to=err)
        _print(request, result, verdict, lines)
        for path in files:
            say(str(path) if lines is None else f"; {path}")
    complete = result.status in (PlanStatus.SOLVED, PlanStatus.OPTIMAL) and not result.unfinished
    return 0 if complete and verdict.valid else 1


def _refuse_others(context: typer.Context, chosen: str) -> None:
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in (chosen, "as_json") and source is not None and source.name == "COMMANDLINE":
            raise BadInput(f"--{chosen} plans nothing: leave {'CELL' if name == 'cell' else f'--{name}'} out")


def _vocabularies(words: str | None) -> list[str]:
    return [] if words is None else [_one_of(words, ["2012", WITHOUT_SLOTS, MAIN_VOCABULARY], "words")]


def _one_of(given: str, allowed: Sequence[str], what: str) -> str:
    if given not in allowed:
        raise UnknownName(what, given, allowed)
    return given


def _lines(writer: PddlWriter, vocabulary: str) -> list[str]:
    """Returns the plan in a vocabulary, a step on each line."""
    several = sum(robot.available for robot in writer.request.state.robots) > 1
    text = writer.plan(writer.files(vocabulary, PddlForm.TEMPORAL if several else PddlForm.NUMERIC))
    return [line for line in text.splitlines() if not line.startswith(";")]


def _print(request: PlanRequest, result: PlanResult, verdict: PlanValidation, lines: list[str] | None) -> None:
    """Prints the plan; in a vocabulary it is a plan file, with the rest as comments."""
    mark = "" if lines is None else "; "
    for line in lines or ():
        say(line)
    for step in result.actions[:SHOWN] if lines is None else ():
        names = " ".join(name for name in (step.sku or step.tool, step.place, step.kit) if name)
        say(f"{step.start_s:8.1f} s {step.duration_s:5.1f} s  {step.robot}  {step.verb:19} {names}")
    if len(result.actions) > SHOWN and lines is None:
        say(f"... and {len(result.actions) - SHOWN} more")
    good = verdict.valid and result.status is not PlanStatus.UNSOLVABLE and not result.unfinished
    colour = "green" if good else "red"
    bound = (
        f"; with these durations no plan takes less than {result.lower_bound:.1f} s" if result.lower_bound > 0 else ""
    )
    took = f"{counted(len(result.actions), 'step')}, {result.makespan_s:.1f} s{bound}"
    say(mark, Text(result.status, colour), f" by {result.planner}: {took}")
    for reason in result.reasons:
        say(f"{mark}{reason}")
    if not verdict.valid:
        say(f"{mark}not valid: {verdict.reason}")
    elif result.actions:
        say(f"{mark}valid: every step of {counted(len(request.jobs), 'kit')} was checked")
