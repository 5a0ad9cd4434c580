"""`cellwright control`: Cellwright's own controller in a process of its own, with sockets and drawings alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.output import Quiet, err, print_json, say, tell
from cellwright.core.errors import BadInput, JobFailed

if TYPE_CHECKING:
    from cellwright.drawings.prior import Drawings
    from cellwright.execution import ExecutionSettings, OrderReport
    from cellwright.perception.calibration import Calibration
    from cellwright.trials.controller_ports import ControllerOrders

__all__ = ["control"]


def control(
    cell: Annotated[str, typer.Argument(help="The cell's name, or its YAML file: the drawings.")],
    order: Annotated[str | None, typer.Option(help="A kit's name, or an order file.")] = None,
    quantity: Annotated[int, typer.Option(min=1, max=100, help="How many, of an order by name.")] = 1,
    trial: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of a trial's control interface: builds and submits what that announces."),
    ] = None,
    crcl: Annotated[
        list[str] | None, typer.Option(help="ROBOT=HOST:PORT of CRCL; this machine and the cell's port by default.")
    ] = None,
    vision: Annotated[
        list[str] | None, typer.Option(help="DETECTOR=HOST:PORT of the vision socket; the cell's port by default.")
    ] = None,
    robots: Annotated[str | None, typer.Option(help="Who works, with commas between; all by default.")] = None,
    recovery: Annotated[str, typer.Option(help="After a failure: none, retry or full.")] = "full",
    planner: Annotated[str | None, typer.Option(help="A task planner by name.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A calibration file of the cell: corrects drawings and detections.")
    ] = None,
    database: Annotated[
        str, typer.Option(envvar="CELLWRIGHT_DATABASE", help="Belief and progress: a new file, or an address.")
    ] = "sqlite://",
    source: Annotated[str | None, typer.Option(help="The source of detections that the cell is served with.")] = None,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the controller's account as one JSON object.")] = False,
) -> int:
    """Builds kits in a cell that another process serves: what `cellwright run` does, over CRCL and the vision socket.

    Exit 0: it believes that everything is done. 1: not, or a server is not there. 2: bad input.
    """
    from cellwright.cells import load_cell, load_plugins
    from cellwright.cli.names import split_names
    from cellwright.drawings.prior import Drawings
    from cellwright.execution import ExecutionSettings, RecoveryMode

    if (order is None) == (trial is None):
        raise BadInput(
            "say what is to be built: --order NAME_OR_FILE, or --trial HOST:PORT of a trial that announces it"
        )
    loaded = load_cell(cell)
    load_plugins(loaded)
    if source is not None:
        from cellwright.lab.sources import with_source

        loaded = with_source(loaded, source)
    drawings = Drawings.of(loaded)
    settings = ExecutionSettings(recovery=RecoveryMode.named(recovery), planner=_planner(planner))
    named = split_names(robots, loaded.robots, "robot", loaded.where) if robots else None
    measured = None
    if calibration is not None:
        from cellwright.trials.calibrated_ports import calibration_of

        measured = calibration_of(calibration, drawings)
    work = _Work(drawings, named, settings, database, measured)
    addresses = _addresses("--crcl", crcl), _addresses("--vision", vision)
    account = asyncio.run(work.build(order, quantity, trial, *addresses))
    if as_json:
        print_json({} if account is None else account.as_dict())
    elif account is not None:
        say(f"{account.status.value}: {account.reason}")
    return 0 if account is not None and account.done else 1


class _Work:
    """The controller of one cell, with its settings."""

    def __init__(
        self,
        drawings: Drawings,
        robots: Sequence[str] | None,
        settings: ExecutionSettings,
        database: str,
        calibration: Calibration | None = None,
    ) -> None:
        self.drawings = drawings
        self.robots = robots
        self.settings = settings
        self.database = database
        self.calibration = calibration
        self.account: OrderReport | None = None

    async def build(
        self, order: str | None, quantity: int, trial: str | None, crcl: dict[str, str], vision: dict[str, str]
    ) -> OrderReport | None:
        """Returns the account of what was built; None when nothing was ordered."""
        from cellwright.trials.calibrated_ports import calibrated_ports
        from cellwright.trials.kitting_controller import KittingController, controller_database
        from cellwright.trials.socket_ports import CellAddresses, socket_ports

        async with AsyncExitStack() as stack:
            orders, told = await stack.enter_async_context(_ordered(order, quantity, trial))
            addresses = CellAddresses(self.drawings, told.get("crcl", {}) | crcl, told.get("vision", {}) | vision)
            ports = await stack.enter_async_context(
                socket_ports(
                    self.drawings, addresses, database=self.database, report=lambda account: self._report(account)
                )
            )
            ports = calibrated_ports(ports, self.calibration)
            database = controller_database(ports.drawings, orders.announced, self.robots, self.database)
            stack.callback(database.close)
            controller = KittingController(
                ports,
                database,
                robots=self.robots,
                settings=self.settings,
                on_action=lambda record: tell(f"{record.end_s:8.2f} s  {record.robot}: {record.action}"),
            )
            with suppress(JobFailed):  # its account says it
                await controller.build(orders)
                return self.account
            if self.account is None:
                raise JobFailed("the controller has given up without an account")
        return self.account

    def _report(self, account: OrderReport) -> None:
        self.account = account


@asynccontextmanager
async def _ordered(
    order: str | None, quantity: int, trial: str | None
) -> AsyncIterator[tuple[ControllerOrders, dict[str, Any]]]:
    """Gives the orders, and the addresses that a trial tells."""
    from cellwright.orders import find_order
    from cellwright.trials.control_orders import GivenOrder, control_orders

    if trial is None:
        yield GivenOrder(find_order(order or "", quantity)), {}
        return
    async with control_orders(trial, lambda line: say(line, to=err)) as orders:
        yield orders, orders.addresses
        with suppress(TimeoutError):
            await orders.answered()


def _planner(name: str | None) -> str | None:
    from cellwright.planning import TASK_PLANNERS

    if name is not None:
        TASK_PLANNERS.get(name)
    return name


def _addresses(option: str, given: Sequence[str] | None) -> dict[str, str]:
    from cellwright.crcl.connection import parse_address

    found = {}
    for text in given or ():
        name, equals, address = text.partition("=")
        if not (name and equals):
            raise BadInput(f"{option} takes NAME=HOST:PORT, not '{text}'")
        parse_address(address)
        found[name] = address
    return found
