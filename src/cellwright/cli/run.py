"""`cellwright run`: an order, from the drawings to the verdict; its report, its log, its picture."""

from __future__ import annotations

import shlex
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from cellwright.cli.live_page import SPEED_HELP, VIEW_HELP, LivePage
from cellwright.cli.output import Quiet, counted, err, prepare_output, print_json, say, take_folder, tell, tell_hints
from cellwright.cli.targets_options import ControlPortOption, TargetsOption
from cellwright.cli.watching import FastOption, TraceOption, VideoOption, WatchFiles
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.files import refuse_existing

if TYPE_CHECKING:
    from cellwright.cells import Cell
    from cellwright.execution.settings import RecoveryMode
    from cellwright.judge import FaultCfg
    from cellwright.lab.world_file import WorldState
    from cellwright.orders.pick_order import PickOrder
    from cellwright.perception.calibration import Calibration
    from cellwright.planning.external_plan import ExternalPlan
    from cellwright.trials.run import RunCfg

__all__ = ["run"]

OF_THE_FIRST_RUN = (
    "cell", "order", "quantity", "robots", "recovery", "planner", "fault", "seed", "fidelity", "plan", "rename",
    "calibration", "source",
)  # fmt: skip


def run(
    context: typer.Context,
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")] = "aprs",
    order: Annotated[
        str | None,
        typer.Option(
            help="A kit, an order to pick (pick_bottle), or an order file; kit_m2l1 or what the cell has by default."
        ),
    ] = None,
    quantity: Annotated[int, typer.Option(min=1, max=100, help="How many, of an order by name.")] = 1,
    robots: Annotated[str | None, typer.Option(help="Who works, with commas between; all by default.")] = None,
    plan: Annotated[
        Path | None, typer.Option(help="A plan file to begin with, in the vocabulary of 2012, 2014 or 2016.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="With --plan: a name in it and what it stands for, such as robot_1=fanuc.")
    ] = None,
    recovery: Annotated[str, typer.Option(help="After a failure: none, retry or full.")] = "full",
    planner: Annotated[
        str | None, typer.Option(help="sequencer, scheduler, fast-downward, enhsp, or one of the cell's plugins.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A calibration file of the cell: corrects drawings and detections.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Where detections come from: state, or camera, recognised in pictures.")
    ] = None,
    fault: Annotated[list[str] | None, typer.Option(help="What goes wrong: kind:key=value,...; repeatable.")] = None,
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    video: VideoOption = None,
    fast: FastOption = False,
    realtime: Annotated[bool, typer.Option("--realtime", help="Pace the simulation to the wall clock.")] = False,
    record: Annotated[Path | None, typer.Option(help="The log; out/run.mcap, or the next number.")] = None,
    picture: Annotated[Path | None, typer.Option(help="The picture; out/run.png, or the next number.")] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw one.")] = False,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="CELLWRIGHT_DATABASE",
            help="Belief and progress: a new file, or an address; out/run.db, or the next number.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of verdict, page, picture, log and database, as of a trial.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that --database is of; with the last one by default.")
    ] = False,
    predicates: Annotated[bool, typer.Option("--predicates", help="All predicates: value and evidence.")] = False,
    view: Annotated[str | None, typer.Option(metavar="[HOST:PORT]", help=VIEW_HELP)] = None,
    speed: Annotated[str | None, typer.Option(help=SPEED_HELP)] = None,
    trace: TraceOption = None,
    targets: TargetsOption = None,
    control_port: ControlPortOption = 0,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> int:
    """Builds kits, or picks an object: plans, does, verifies, recovers, and is judged by the truth."""
    from cellwright.cells import cell_hints  # here: --help need not wait for a laboratory
    from cellwright.cli.default_order import DEFAULT_ORDER, fitting_orders
    from cellwright.orders import find_order

    header: dict[str, Any] = {
        "cell": cell, "order": order, "quantity": quantity, "robots": _names(robots), "recovery": recovery,
        "planner": planner, "seed": seed, "fidelity": fidelity, "faults": fault or [],
    }  # fmt: skip
    if source is not None:
        header["source"] = source
    if calibration is not None:
        header["calibration"] = str(calibration.absolute())
    if database is not None and "://" in database:
        from cellwright.knowledge.address import need_driver

        need_driver(database)
    state, world_file = None, None
    if resume:
        from cellwright.trials.run_files import latest_database

        database = _from_here(database or latest_database())
        state, world_file = _stored(context, database)
        header = dict(state.header)
        if out is None and record is None and "log" in header:
            record = Path(_from_here(header["log"]))
    if out is not None:
        record, picture, database = (
            record or out / "log.mcap",
            picture or out / "cell.png",
            database or str(out / "run.db"),
        )
    loaded = _loaded(header["cell"], header["seed"])
    if loaded.mobiles and not loaded.robots:
        raise BadInput(f"cell '{loaded.name}' has robots on wheels only: to build kits it needs an arm under robots")
    if not resume and (pick := _pick_order(loaded, order)) is not None:
        from cellwright.cli.run_pick import run_pick_order

        if targets is not None:
            raise BadInput("--targets is for orders of kits: what picks from pictures has simulated robots only")

        return run_pick_order(
            context, cell, pick, seed=seed, fidelity=fidelity, realtime=realtime, record=record, picture=picture,
            draw=not no_picture, out=out, overwrite=overwrite, as_json=as_json, calibration=calibration,
            view=view, speed=speed, trace=trace, video=video, fast=fast,
        )  # fmt: skip
    if header.get("source") is not None:
        from cellwright.lab.sources import with_source

        loaded = with_source(loaded, header["source"])
    header["order"] = header["order"] or (fitting_orders(loaded) or [DEFAULT_ORDER])[0]
    orders = [find_order(header["order"], header["quantity"])]
    wanted = [path for path in (record, None if no_picture else picture) if path is not None]
    if len(wanted) == 2 and wanted[0].absolute() == wanted[1].absolute():
        raise BadInput(f"log and picture cannot both be written to {record}")
    if not overwrite and not resume:
        refuse_existing(*wanted)  # now, and not after the laboratory was built
    if out is not None:
        take_folder(out, out, ("verdict.json", "verdict.html"), overwrite=overwrite)
    given = _external_plan(plan, rename or [])
    _check_options(header, loaded)
    measured = _calibration(header, loaded)
    watched = context.with_resource(WatchFiles(trace, video, overwrite=overwrite or resume, fast=fast))
    live = context.with_resource(LivePage(view, speed))
    tell(f"{loaded.name}, seed {header['seed']}: {_said(header, resume)}")
    tell_hints(cell_hints(loaded))

    from cellwright.cli.page_file import command_line
    from cellwright.cli.run_report import ActionLines, print_report, tell_action, tell_plan
    from cellwright.cli.run_status import status_of
    from cellwright.knowledge.address import redacted_address
    from cellwright.lab import Lab
    from cellwright.trials.kitting_controller import ACTIONS_TOPIC, PLANS_TOPIC
    from cellwright.trials.page import FILES, UnsavedReport, draw_end, write_report
    from cellwright.trials.report import Ending
    from cellwright.trials.run import check_order, run_order
    from cellwright.trials.run_files import run_files

    if targets is None and header.get("targets"):
        targets = Path(header["targets"])
    if targets is not None:
        header["targets"] = str(targets.absolute())
    cfg = replace(
        _cfg(header),
        plan=given,
        calibration=measured,
        targets_file=targets,
        control_port=control_port,
        say=lambda line: say(line, to=err),
    )
    pace = 1.0 if realtime or targets is not None or loaded.targets.has_external else None
    with Lab.from_cell(loaded, header["seed"], fidelity=header["fidelity"], pace=pace) as lab:
        check_order(lab, orders, cfg)
        with run_files(record, picture, database, world_file, overwrite=overwrite, draw=not no_picture) as files:
            pages = () if out is None else (out / FILES["verdict"], out / FILES["page"])
            watched.keep_apart((files.log, files.picture, files.database, files.world, *pages))
            for path in filter(None, (files.log, files.picture, files.world)):
                prepare_output(path)
            lab.bus.subscribe(PLANS_TOPIC, tell_plan, subscriber="progress")
            if as_json:
                lab.bus.subscribe(ACTIONS_TOPIC, tell_action, subscriber="progress")
            else:
                cfg = replace(cfg, on_action=ActionLines(lab.robots, predicates=predicates))
            stored = {**header, "log": str(files.log.absolute())}
            del stored["faults"]  # the world's file has those that are left
            cfg = replace(cfg, database=files.database, world_file=files.world, header=stored)
            recorder = lab.record(files.log)
            watched.log = files.log
            try:
                about = {"order": header["order"], "command": command_line(), "log": str(files.log)}
                with live.watching(lab, about), nullcontext() if as_json else status_of(lab):
                    report = run_order(lab, orders, cfg, state)
            except KeyboardInterrupt:
                say(f"stopped; `{_resuming(files.database)}` goes on from here", to=err)
                raise
            lost = recorder.close()
            live.finish(report)
            if not as_json:
                print_report(report)
                if report.ending is Ending.STOPPED:
                    say(f"`{_resuming(files.database)}` goes on from here")
            renderer = draw_end(lab.world, files.picture, lambda line: say(line, to=err)) if files.picture else None
    watched.write(files.log, loaded)
    unsaved: UnsavedReport | None = None
    written = {"log": files.log, "picture": files.picture if renderer else None, **watched.written}
    if out is not None:
        try:
            write_report(report, out, written["picture"], command_line(), watched.links(out))
            written |= {what: out / FILES[what] for what in ("verdict", "page")}
        except UnsavedReport as error:  # told at the end, after the verdict
            unsaved = error
    if as_json:
        print_json(
            report.as_dict()
            | {
                "score": report.score, "asked": header, "files": written,
                "log": files.log, "log_lost": {"messages": lost.messages, "reason": lost.reason},
                "database": redacted_address(files.database), "picture": written["picture"], "renderer": renderer,
            }
        )  # fmt: skip
    else:
        drawn = f", picture {files.picture}" if renderer else ""
        page = f", page {written['page']}" if "page" in written else ""
        say(f"log {files.log}{drawn}, database {redacted_address(files.database)}{page}{watched.told()}")
    if lost.messages or lost.reason:
        say(f"the log is incomplete: {lost.messages} messages lost: {lost.reason}", to=err)
    live.stay()
    if unsaved is not None:
        raise unsaved
    return 0 if report.done else 1


def _pick_order(cell: Cell, order: str | None) -> PickOrder | None:
    """Returns the order to pick of a name; without one the first, in a cell that has no trays but the areas."""
    from cellwright.orders import DESIGNS
    from cellwright.orders.pick_order import PICK_ORDERS

    if order is not None:
        is_meant = order in PICK_ORDERS or (order.startswith("pick_") and order.isidentifier() and order not in DESIGNS)
        return PICK_ORDERS.get(order) if is_meant else None
    if cell.trays:
        return None
    from cellwright.drawings.planning_scene import table_area
    from cellwright.drawings.prior import Drawings

    first = PICK_ORDERS.get(next(iter(PICK_ORDERS)))
    try:
        table_area(Drawings.of(cell).fixtures, first.pick_area)
    except UnknownName:
        return None
    return first


def _loaded(cell: str, seed: int) -> Cell:
    """Returns the cell; only for a bad one is the laboratory loaded, which reports the rest of its errors."""
    from cellwright.cells import CellConfigErrors, load_cell, load_plugins

    with suppress(CellConfigErrors):
        loaded = load_cell(cell)
        if load_plugins(loaded):
            return loaded
    from cellwright.lab.cell_file import read_cell

    return read_cell(cell, seed)


def _check_options(header: dict[str, Any], cell: Cell) -> None:
    """Refuses bad options before anything is printed or imported."""
    from cellwright.cells.schema import Fidelity

    robots, fidelity = header["robots"], header["fidelity"]
    if robots == []:
        raise BadInput(f"--robots: no robot is to work; name at least one of {', '.join(cell.robots)}")
    for name in robots or ():
        if name not in cell.robots:
            raise UnknownName("robot", name, cell.robots, "--robots")
    if fidelity not in (None, *get_args(Fidelity)):
        raise UnknownName("fidelity", fidelity, get_args(Fidelity))
    if header.get("planner"):
        from cellwright.planning import TASK_PLANNERS

        TASK_PLANNERS.get(header["planner"])
    if header["faults"] or header["recovery"] != "full":
        _recovery_and_faults(header)


def _stored(context: typer.Context, database: str) -> tuple[WorldState, Path]:
    """Returns the world of a run to resume, and its file; refuses options of the first run, and a run without start."""
    from cellwright.lab.world_file import WorldState
    from cellwright.trials.run_files import USUAL, database_file, world_file_of

    for name in OF_THE_FIRST_RUN:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "a cell" if name == "cell" else f"--{name}"
            raise BadInput(f"--resume goes on with the run as it was begun: leave {option} out")
    world_file = world_file_of(database, USUAL, resume=True)
    if not world_file.exists():
        raise BadInput(f"there is no run to resume: {world_file} does not exist (--database names the run's database)")
    state, file = WorldState.read(world_file), database_file(database)
    if file is not None and not file.exists():
        raise BadInput(f"there is no database {file} to resume from")
    return state, world_file


def _from_here(path: str) -> str:
    """Returns a file relative to this folder, when it is below it; an address as it is."""
    return str(Path(path).relative_to(Path.cwd())) if Path(path).is_relative_to(Path.cwd()) else path


def _resuming(database: str) -> str:
    """Returns the command that resumes the run; an address may hold a password, and is not repeated."""
    address = "..." if "://" in database else shlex.quote(database)
    return f"cellwright run --resume --database {address}"


def _recovery_and_faults(header: dict[str, Any]) -> tuple[RecoveryMode, tuple[FaultCfg, ...]]:
    """Returns the recovery mode and the faults."""
    from cellwright.execution.settings import RecoveryMode
    from cellwright.judge.faults.spec import parse_fault

    errors, faults, mode = ErrorCollector(), [], RecoveryMode.FULL
    with errors.collecting():
        mode = RecoveryMode.named(header["recovery"])
    for fault in header["faults"]:
        with errors.collecting():
            faults.append(parse_fault(fault))
    errors.raise_errors()
    return mode, tuple(faults)


def _cfg(header: dict[str, Any]) -> RunCfg:
    from cellwright.execution.settings import ExecutionSettings
    from cellwright.trials.run import RunCfg

    robots, (mode, faults) = header["robots"], _recovery_and_faults(header)
    settings = ExecutionSettings(recovery=mode, planner=header.get("planner"))
    return RunCfg(robots=None if robots is None else tuple(robots), settings=settings, faults=faults)


def _calibration(header: dict[str, Any], cell: Cell) -> Calibration | None:
    if header.get("calibration") is None:
        return None
    from cellwright.drawings.prior import Drawings
    from cellwright.trials.calibrated_ports import calibration_of

    return calibration_of(header["calibration"], Drawings.of(cell))


def _external_plan(plan: Path | None, renamed: list[str]) -> ExternalPlan | None:
    from cellwright.cli.plan_check import read_text
    from cellwright.knowledge.pddl import read_steps
    from cellwright.planning.external_plan import ExternalPlan

    pairs = [entry.partition("=") for entry in renamed]
    for old, sign, new in pairs:
        if not (old and sign and new) or plan is None:
            raise BadInput(f"--rename {old}{sign}{new}: allowed is NAME_IN_THE_PLAN=NAME_IN_THE_CELL, with --plan")
    if plan is None:
        return None
    steps = tuple(read_steps(read_text(plan), str(plan)))
    if not steps:
        raise BadInput(f"{plan}: no step in it")
    return ExternalPlan(str(plan), steps, {old: new for old, _, new in pairs})


def _names(robots: str | None) -> list[str] | None:
    return None if robots is None else [name.strip() for name in robots.split(",") if name.strip()]


def _said(header: dict[str, Any], resume: bool) -> str:
    who = " and ".join(header["robots"]) if header["robots"] else "all robots"
    count = f"{header['quantity']} x " if header["quantity"] > 1 else ""
    to_come = len(header["faults"])
    faults = f", {counted(to_come, 'fault')} to come" if to_come else ""
    return f"{'going on with ' if resume else ''}{count}{header['order']} by {who}{faults}"
