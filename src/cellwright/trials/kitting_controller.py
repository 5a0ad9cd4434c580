"""Cellwright's own kitting controller: from detections to tracks to belief, from plans to CRCL.

It has what external controllers have: the drawings, what the detectors report, and the robots' CRCL interfaces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellwright.cells import Cell, own_name
from cellwright.core.bus import Bus, Role
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.messages import ActionEvent, BeliefChange, Detections, Plan, Tracks
from cellwright.crcl import ClientOptions, CrclClient
from cellwright.drawings.database import designs_for, planning_workstation
from cellwright.execution import ActionRecord, ExecutionSettings, Executor, OrderReport
from cellwright.interfaces.crcl import CrclInterface
from cellwright.knowledge import Belief, BeliefState, Database, DatabaseError, WorldModel, filled_database
from cellwright.lab.lab import Lab
from cellwright.orders import Order
from cellwright.perception import ExpectedObject, Tracker
from cellwright.planning.external_plan import ExternalPlan
from cellwright.sensors.logical_detector import LogicalDetectorCfg

if TYPE_CHECKING:
    from cellwright.trials.orders import OrderBook
    from cellwright.trials.trial import Trial

__all__ = [
    "ACTIONS_TOPIC",
    "PLANS_TOPIC",
    "TRACKS_TOPIC",
    "KittingController",
    "controller_database",
    "detector_views",
    "named_robots",
]

TRACKS_TOPIC, BELIEF_TOPIC = "/tracks", "/belief/changes"
PLANS_TOPIC, ACTIONS_TOPIC = "/planning/plan", "/execution/actions"
PERCEPTION_S = 0.02  # from a frame to its tracks, in simulation time; estimated
POLL_S = 0.1  # between two questions whether a command is done
EVERY = 5  # of the tracks of a detector, one message is believed while none is queried
WRITE_EVERY_S = 0.5  # poses are in the database so much later at most; stable states and progress are at once
ATTENTION_S = 0.25  # for how long each of them is, after a query

Box = tuple[tuple[float, float], tuple[float, float]]


class KittingController:
    """Builds kits in one laboratory.

    Args:
        lab: Its bus, its clock and its drawings are used; its world is not looked at.
        crcl: The CRCL servers of the robots.
        database: Filled from the drawings, or left behind by an earlier run.
        robots: The robots that work; all by default. The others only make way.
        settings: How.
        on_action: Is told of every action that was tried.

    Attributes:
        belief: What is believed.
    """

    def __init__(
        self,
        lab: Lab,
        crcl: CrclInterface,
        database: Database,
        *,
        robots: Sequence[str] | None = None,
        settings: ExecutionSettings | None = None,
        on_action: Callable[[ActionRecord], None] = lambda _record: None,
    ) -> None:
        self._on_action = on_action
        self.robots = named_robots(lab.cell, robots)
        self.settings = settings or ExecutionSettings()
        self._tool_models = _tool_models(lab.cell)
        self._bus = lab.bus
        self._loop = lab.loop
        self._clock = lab.clock
        self._crcl = crcl
        self._all_robots = tuple(lab.cell.robots)
        self._views = detector_views(lab)
        self._left_out = dict.fromkeys(self._views, 0)
        self._is_wanted = False
        self._lost = lab.loop.create_future()
        for topic, kind in (
            (TRACKS_TOPIC, Tracks), (BELIEF_TOPIC, BeliefChange), (PLANS_TOPIC, Plan), (ACTIONS_TOPIC, ActionEvent),
        ):  # fmt: skip
            lab.bus.declare(topic, kind)
        model = WorldModel(database, write_every_s=WRITE_EVERY_S)
        self.belief = Belief(model, partial(lab.bus.publish, BELIEF_TOPIC))
        self._tracker = Tracker(expected_in(self.belief.state), views=self._views)
        self._kits = dict(self.belief.state.tray_of)

    async def build(
        self, trial: Trial, orders: OrderBook, *, resume: bool = False, plan: ExternalPlan | None = None
    ) -> None:
        """Builds every order as it becomes known, and submits those that it believes to be done.

        Each time it is asked for all that is known so far: kits that it has built count, and are not built again.

        Args:
            trial: The trial, which gets the controller's account.
            orders: Its orders.
            resume: Whether it goes on with what the database says was under way.
            plan: An external plan to begin with.

        Raises:
            JobFailed: Not everything could be done; what could be had was built.
        """
        tried: set[str] = set()
        async for order in orders.coming():
            if order.name in tried:
                continue
            known = orders.announced
            tried = {one.name for one in known}
            account = await self.run([one.wanted for one in known], resume=resume, plan=plan)
            if (before := trial.account) is not None:
                account = replace(
                    account,
                    actions=before.actions + account.actions,
                    plans=before.plans + account.plans,
                    retries=before.retries + account.retries,
                    start_s=before.start_s,
                )
            trial.account, resume, plan = account, False, None
            for one in known:
                if trial.account.done and one.submitted_s is None:
                    orders.submit(one.name, trial.lab.clock.time_s)
        if trial.account is not None and not trial.account.done:
            raise JobFailed(trial.account.reason)

    async def run(
        self, orders: Sequence[Order], *, resume: bool = False, plan: ExternalPlan | None = None
    ) -> OrderReport:
        """Builds what is ordered; with `resume`, goes on with what the database says was under way.

        Raises:
            DatabaseError: It was lost; the robots have stopped where they were, with what they held.
        """
        async with AsyncExitStack() as stack:
            stack.callback(self._listen())
            clients = {}
            for robot in self._all_robots:
                options = ClientOptions(poll_s=POLL_S)
                client = CrclClient(partial(self._crcl.connect, robot), peer=robot, options=options)
                clients[robot] = await stack.enter_async_context(client)
            executor = Executor(
                self.belief,
                clients,
                self._clock,
                robots=self.robots,
                settings=replace(self.settings, tool_models=self._tool_models),
                publish=partial(_publish, self._bus),
                on_action=self._on_action,
            )
            try:
                return await self._while_stored(executor.run(orders, resume=resume, plan=plan))
            except DatabaseError:  # what cannot be written down is not done
                await asyncio.gather(*(client.abort() for client in clients.values()), return_exceptions=True)
                raise

    async def _while_stored(self, work: Coroutine[Any, Any, OrderReport]) -> OrderReport:
        """Ends the work as soon as what is seen meanwhile cannot be stored."""
        task = self._loop.create_task(work)
        try:
            await asyncio.wait((task, self._lost), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._lost.result()
            return await task
        finally:
            task.cancel()
            await asyncio.wait((task,))

    def _listen(self) -> Callable[[], None]:
        """Takes what detectors and tracker say; returns how to stop that."""
        taken = []
        for source in self._views:
            topic = f"/{source}/detections"
            taken.append(self._bus.subscribe(topic, self._see, subscriber="tracker", role=Role.CONTROLLER))
        taken.append(self._bus.subscribe(TRACKS_TOPIC, self._believe, subscriber="belief", role=Role.CONTROLLER))

        def stop() -> None:
            for subscription in taken:
                self._bus.unsubscribe(subscription)

        return stop

    def _see(self, _topic: str, message: Detections) -> None:
        """Schedules tracking of a frame: recognition takes its time."""
        self._loop.call_later(PERCEPTION_S, self._track, message)

    def _track(self, message: Detections) -> None:
        if self._lost.done():
            return
        if self._kits != self.belief.state.tray_of:  # slots of a tray that has become a kit are named after it
            self._kits = dict(self.belief.state.tray_of)
            self._tracker.set_holders({tray: kit for kit, tray in self._kits.items()})
        self._is_wanted = self._wants(message.source)
        if not self._is_wanted and self._bus.listeners(TRACKS_TOPIC) <= 1:  # belief, which does not want it
            self._tracker.follow(message)
            return
        self._bus.publish(TRACKS_TOPIC, self._tracker.take(message))

    def _wants(self, source: str) -> bool:
        """Returns whether a frame is processed; most are skipped: what they say is in the next one, too."""
        self._left_out[source] = (self._left_out[source] + 1) % EVERY
        return (
            self._left_out[source] == 0
            or source not in self.belief.frames_s
            or self.belief.watched_s.get(source, -1.0) >= self._clock.time_s - ATTENTION_S
        )

    def _believe(self, _topic: str, tracks: Tracks) -> None:
        if self._is_wanted and not self._lost.done():
            try:
                self.belief.take(tracks)
            except DatabaseError as error:
                self._lost.set_exception(error)


def controller_database(
    lab: Lab, orders: OrderBook, robots: Sequence[str] | None = None, url: str | Path = "sqlite://"
) -> Database:
    """Returns a new database with what the drawings say, in which the controller keeps what it believes.

    Unnamed trays of kinds of which every order names its own are left out: nothing is to be built on them.
    """
    wanted = [order.wanted for order in orders.orders.values()]
    workstation, _ = planning_workstation(lab.cell, wanted, robots, lab.seed)
    named = {kit.tray for kit in orders.kits if kit.tray is not None}
    bound = {kit.design.tray_sku for kit in orders.kits}
    bound -= {kit.design.tray_sku for kit in orders.kits if kit.tray is None}
    kits = tuple(kit for kit in workstation.kits if kit.name in named or kit.tray_sku not in bound)
    return filled_database(url, replace(workstation, kits=kits), designs_for(wanted))


def named_robots(cell: Cell, robots: Sequence[str] | None) -> tuple[str, ...]:
    """Returns the robots that work; all by default.

    Raises:
        BadInput: No robot, or one that is not there.
    """
    if not cell.robots:
        raise BadInput(f"{cell.where}: the cell has no robot")
    names = tuple(cell.robots) if robots is None else tuple(dict.fromkeys(robots))
    for name in names:
        if name not in cell.robots:
            raise UnknownName("robot", name, cell.robots)
    if not names:
        raise BadInput(f"no robot is to work; name at least one of {', '.join(cell.robots)}")
    return names


def detector_views(lab: Lab) -> dict[str, Box]:
    """Returns detector -> the rectangle that it looks at, as it is mounted."""
    views: dict[str, Box] = {}
    for sensor in lab.sensors:
        if isinstance(sensor.cfg, LogicalDetectorCfg):
            views[sensor.cfg.name] = (sensor.cfg.min_xy_m, sensor.cfg.max_xy_m)
    if not views:
        raise BadInput(f"{lab.cell.where}: the cell has no detector; kits cannot be built blind")
    return views


def expected_in(believed: BeliefState) -> list[ExpectedObject]:
    """Returns everything that is believed to be there, for a tracker that has seen nothing yet."""
    kit_of = {tray: kit for kit, tray in believed.tray_of.items()}
    found = []
    for thing in believed.of_kind("Part", "PartsTray", "KitTray"):
        if not believed.has_pose(thing.name):
            continue
        variances = believed.variances(thing.name)
        deviation_m, deviation_rad = float(np.sqrt(variances[:3].max())), float(np.sqrt(variances[3]))
        holder = kit_of.get(thing.name, "") if thing.kind == "KitTray" else None
        pose = believed.pose(thing.name)
        found.append(ExpectedObject(thing.name, thing.sku, pose, deviation_m, deviation_rad, holder))
    return found


def _publish(bus: Bus, message: Plan | ActionEvent) -> None:
    bus.publish(PLANS_TOPIC if isinstance(message, Plan) else ACTIONS_TOPIC, message)


def _tool_models(cell: Cell) -> dict[str, str]:
    """Returns own name -> catalogue name of the tools that the cell has from files."""
    tools = [robot.tool for robot in cell.robots.values() if robot.tool is not None]
    return {own_name(tool): tool for tool in tools if own_name(tool) != tool}
