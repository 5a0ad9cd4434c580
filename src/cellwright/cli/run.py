"""`cellwright run`: an order, from the drawings to the verdict; its report, its log, its picture."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.output import err, prepare_output, print_json, say
from cellwright.core.errors import BadInput, CellwrightError, UnknownName

if TYPE_CHECKING:
    from cellwright.lab import Lab
    from cellwright.lab.kitting import RunCfg

__all__ = ["run"]

DATABASE = "out/run.db"
OF_THE_FIRST_RUN = ("cell", "order", "quantity", "robots", "recovery", "fault", "seed", "fidelity")


def run(
    context: typer.Context,
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")] = "aprs",
    order: Annotated[str, typer.Option(help="A kit's name, or an order file.")] = "kit_m2l1",
    quantity: Annotated[int, typer.Option(min=1, max=100, help="How many, of an order by name.")] = 1,
    robots: Annotated[str | None, typer.Option(help="Who works, with commas between; all by default.")] = None,
    recovery: Annotated[str, typer.Option(help="After a failure: none, retry or full.")] = "full",
    fault: Annotated[list[str] | None, typer.Option(help="What goes wrong: kind:key=value,...; repeatable.")] = None,
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    realtime: Annotated[bool, typer.Option("--realtime", help="Pace the simulation to the wall clock.")] = False,
    record: Annotated[Path, typer.Option(help="Where to write the log.")] = Path("out/run.mcap"),
    picture: Annotated[Path, typer.Option(help="Where to save the picture.")] = Path("out/run.png"),
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw one.")] = False,
    database: Annotated[
        str,
        typer.Option(envvar="CELLWRIGHT_DATABASE", help="Belief and progress: a file or an address; a file is new."),
    ] = DATABASE,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run that this database is of.")] = False,
    predicates: Annotated[bool, typer.Option("--predicates", help="All predicates: value and evidence.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> int:
    """Builds kits: plans, does, verifies, recovers, and is judged by the truth."""
    from cellwright.cells import load_cell  # here: whoever asks for help need not wait for a laboratory
    from cellwright.cli.run_report import print_report, tell_action, tell_plan
    from cellwright.knowledge.address import shown_address
    from cellwright.lab import Lab
    from cellwright.lab.kitting import check_order, resume_order, run_order
    from cellwright.lab.kitting_controller import ACTIONS_TOPIC, PLANS_TOPIC
    from cellwright.lab.kitting_files import log_of, make_room, world_file_of
    from cellwright.lab.world_file import WorldState
    from cellwright.orders import find_order

    world_file = world_file_of(database, record, resume=resume)
    if resume:
        _check_resume(context, world_file)
    asked: dict[str, Any] = {
        "cell": cell, "order": order, "quantity": quantity, "robots": _names(robots), "recovery": recovery,
        "seed": seed, "fidelity": fidelity, "faults": fault or [], "log": str(record.absolute()),
    }  # fmt: skip
    state = WorldState.read(world_file) if resume else None
    header: dict[str, Any] = dict(state.header) if state else asked
    if resume and not _is_given(context, "record"):
        record = Path(header.get("log", record))
    loaded = load_cell(header["cell"])
    orders = [find_order(header["order"], header["quantity"])]
    cfg = _cfg(header, database, world_file)
    wanted, log = None if no_picture else picture, log_of(record, resume)
    if wanted is not None and log.absolute() == wanted.absolute():
        raise BadInput(f"log and picture cannot both be written to {log}")
    pace = 1.0 if realtime else None
    with Lab.from_cell(loaded, header["seed"], fidelity=header["fidelity"], pace=pace) as lab:
        check_order(lab, orders, cfg)
        make_room(database, resume)
        for path in filter(None, (log, wanted, world_file)):
            prepare_output(path)
        say(f"{loaded.name}, seed {header['seed']}: {_said(header, cfg, resume)}", to=err)
        lab.bus.subscribe(PLANS_TOPIC, tell_plan, subscriber="progress")
        lab.bus.subscribe(ACTIONS_TOPIC, tell_action, subscriber="progress")
        started_s = time.perf_counter()
        recorder = lab.record(log)
        try:
            report = resume_order(lab, orders, state, cfg) if state else run_order(lab, orders, cfg)
        except KeyboardInterrupt:
            say("stopped; the same command with --resume, and without what it shall do, goes on from here", to=err)
            raise
        wall_s = time.perf_counter() - started_s
        lost = recorder.close()
        if not as_json:
            print_report(report, wall_s, predicates=predicates)
        renderer = _take_picture(lab, wanted) if wanted is not None else None
    if as_json:
        print_json(
            report.as_dict()
            | {
                "cell": loaded.name, "seed": header["seed"], "asked": header,
                "log": log, "log_lost": {"messages": lost.messages, "reason": lost.reason},
                "database": shown_address(database),
                "picture": wanted if renderer else None, "renderer": renderer, "wall_s": wall_s,
            }
        )  # fmt: skip
    else:
        say(f"log {log}" + (f", picture {wanted}" if renderer else "") + f", database {shown_address(database)}")
    if lost.messages or lost.reason:
        say(f"the log is incomplete: {lost.messages} messages lost: {lost.reason}", to=err)
    return 0 if report.done else 1


def _check_resume(context: typer.Context, world_file: Path) -> None:
    """Refuses what a run that goes on cannot be told any more, and one that never began."""
    for name in OF_THE_FIRST_RUN:
        if _is_given(context, name):
            said = "a cell" if name == "cell" else f"--{name}"
            raise BadInput(f"--resume goes on with the run as it was begun: leave {said} out")
    if not world_file.exists():
        raise BadInput(f"there is no run to resume: {world_file} does not exist (--database names the run's database)")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _cfg(header: dict[str, Any], database: str, world_file: Path) -> RunCfg:
    from cellwright.execution import ExecutionSettings, RecoveryMode
    from cellwright.judge import parse_fault
    from cellwright.lab.kitting import RunCfg

    modes = [mode.value for mode in RecoveryMode]
    if header["recovery"] not in modes:
        raise UnknownName("recovery", header["recovery"], modes)
    robots = header["robots"]
    return RunCfg(
        robots=None if robots is None else tuple(robots),
        settings=replace(ExecutionSettings(), recovery=RecoveryMode(header["recovery"])),
        faults=tuple(parse_fault(fault) for fault in header["faults"]),
        database=database,
        world_file=world_file,
        header={key: value for key, value in header.items() if key != "faults"},
    )


def _names(robots: str | None) -> list[str] | None:
    return None if robots is None else [name.strip() for name in robots.split(",") if name.strip()]


def _said(header: dict[str, Any], cfg: RunCfg, resume: bool) -> str:
    who = " and ".join(header["robots"]) if header["robots"] else "all robots"
    count = f"{header['quantity']} x " if header["quantity"] > 1 else ""
    faults = f", {len(cfg.faults)} faults to come" if cfg.faults else ""
    return f"{'going on with ' if resume else ''}{count}{header['order']} by {who}{faults}"


def _take_picture(lab: Lab, path: Path) -> str | None:
    """The renderer that drew it; a picture that fails must not take the job's report along."""
    from cellwright.sim.picture import take_picture

    try:
        return take_picture(lab.world, path)
    except CellwrightError as error:
        say(f"there is no picture: {error}", to=err)
        return None
