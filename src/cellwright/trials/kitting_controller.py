"""Cellwright's own kitting controller: from detections to tracks to belief, from plans to CRCL.

It has what external controllers have: the drawings, what the detectors report, and the robots' CRCL interfaces.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import JobFailed
from cellwright.core.messages import ActionEvent, BeliefChange, Detections, Plan, Tracks
from cellwright.crcl import ClientOptions
from cellwright.drawings.database import designs_for, planning_workstation
from cellwright.drawings.prior import Drawings
from cellwright.execution import ActionRecord, ExecutionSettings, Executor, OrderReport
from cellwright.knowledge import Belief, BeliefState, Database, DatabaseError, WorldModel, filled_database
from cellwright.knowledge.held_pose import in_hands
from cellwright.orders import Order
from cellwright.perception import ExpectedObject, Tracker
from cellwright.planning.external_plan import ExternalPlan
from cellwright.trials.announced import AnnouncedOrder
from cellwright.trials.controller_ports import ControllerOrders, ControllerPorts
from cellwright.trials.detector_views import surfaces_of, view_model
from cellwright.trials.frame_requests import FrameRequests

__all__ = ["ACTIONS_TOPIC", "PLANS_TOPIC", "TRACKS_TOPIC", "KittingController", "controller_database", "expected_in"]

TRACKS_TOPIC, BELIEF_TOPIC = "/tracks", "/belief/changes"
PLANS_TOPIC, ACTIONS_TOPIC = "/planning/plan", "/execution/actions"
PERCEPTION_S = 0.02  # from a frame to its tracks, in simulation time; estimated
EVERY = 5  # of the tracks of a detector, one message is believed while none is queried
WRITE_EVERY_S = 0.5  # poses are in the database so much later at most; stable states and progress are at once
ATTENTION_S = 0.25  # for how long each of them is, after a query


class KittingController:
    """Builds kits in one cell.

    Args:
        ports: All that it gets of the cell.
        database: Filled from the drawings, or left behind by an earlier run.
        robots: The robots that work; all by default. The others only make way.
        settings: How.
        on_action: Is told of every action that was tried.

    Attributes:
        belief: What is believed.
    """

    def __init__(
        self,
        ports: ControllerPorts,
        database: Database,
        *,
        robots: Sequence[str] | None = None,
        settings: ExecutionSettings | None = None,
        on_action: Callable[[ActionRecord], None] = lambda _record: None,
    ) -> None:
        self._ports = ports
        self._on_action = on_action
        self.robots = ports.drawings.named_robots(robots)
        self.settings = settings or ExecutionSettings()
        self._views = ports.drawings.views(list(ports.detectors))
        self._frames: dict[str, deque[Detections]] = {}
        self._left_out = dict.fromkeys(self._views, 0)
        self._lost: asyncio.Future[None] | None = None
        self._broken_off: OrderReport | None = None
        for topic, kind in (
            (TRACKS_TOPIC, Tracks), (BELIEF_TOPIC, BeliefChange), (PLANS_TOPIC, Plan), (ACTIONS_TOPIC, ActionEvent),
        ):  # fmt: skip
            ports.topics.declare(topic, kind)
        model = WorldModel(database, write_every_s=WRITE_EVERY_S)
        self.belief = Belief(model, ports.publisher(BELIEF_TOPIC))
        self._view = view_model(ports.drawings, list(ports.detectors))
        self._models = {name: ROBOTS.get(robot.model) for name, robot in ports.drawings.cell.robots.items()}
        self._tracker = Tracker(
            expected_in(self.belief.state),
            views=self._views,
            view=self._view,
            surfaces=surfaces_of(self.belief.state),
            clock=lambda: ports.clock.time_s,
            registered=ports.drawings.registered_detectors,
        )
        self.belief.follower, self.belief.state.view = self._tracker, self._view
        self._requests = FrameRequests(ports, ports.drawings.on_demand_detectors & self._views.keys(), self._see)
        if self._requests.detectors:
            self.belief.on_wait = self._requests.ask
        self._kits = dict(self.belief.state.tray_of)

    async def build(
        self, orders: ControllerOrders, *, resume: bool = False, plan: ExternalPlan | None = None
    ) -> OrderReport | None:
        """Builds every order as it becomes known, and submits those that it believes to be done.

        Each time it is asked for all that is known so far: kits that it has built count, and are not built again.

        Args:
            orders: The orders.
            resume: Whether it goes on with what the database says was under way.
            plan: An external plan to begin with.

        Returns:
            Its account; None when there was no order.

        Raises:
            JobFailed: Not everything could be done; what could be had was built.
        """
        tried: set[str] = set()
        total: OrderReport | None = None
        async for order in orders.coming():
            if order.name in tried:
                continue
            known = orders.announced
            tried = {one.name for one in known}
            try:
                account = await self.run([one.wanted for one in known], resume=resume, plan=plan)
            except asyncio.CancelledError:
                if self._broken_off is not None:
                    self._ports.report(_joined(total, self._broken_off))
                raise
            account = _joined(total, account)
            total, resume, plan = account, False, None
            self._ports.report(account)
            for one in orders.announced:
                if account.done and not one.is_submitted and one.name in tried:
                    orders.submit(one.name)
        if total is not None and not total.done:
            raise JobFailed(total.reason)
        return total

    async def run(
        self, orders: Sequence[Order], *, resume: bool = False, plan: ExternalPlan | None = None
    ) -> OrderReport:
        """Builds what is ordered; with `resume`, goes on with what the database says was under way.

        Raises:
            DatabaseError: It was lost; the robots have stopped where they were, with what they held.
        """
        ports = self._ports
        async with AsyncExitStack() as stack:
            self._lost = asyncio.get_running_loop().create_future()
            stack.callback(self._listen())
            options = ClientOptions(poll_s=ports.poll_s)
            clients = {
                robot: await stack.enter_async_context(ports.client(robot, options))
                for robot in ports.drawings.cell.robots
            }
            executor = Executor(
                self.belief,
                clients,
                ports.clock,
                robots=self.robots,
                settings=replace(
                    self.settings,
                    tool_models=ports.drawings.tool_models,
                    force_sensors=ports.drawings.force_sensors,
                    tool_offsets=ports.drawings.tool_offsets,
                    flat_detectors=ports.drawings.flat_detectors,
                ),
                publish=self._tell,
                on_action=self._on_action,
                models=self._models,
                view=self._view,
                fixtures=ports.drawings.fixtures,
            )
            try:
                return await self._while_stored(executor.run(orders, resume=resume, plan=plan), self._lost)
            except asyncio.CancelledError:
                self._broken_off = executor.broken_off
                raise
            except DatabaseError:  # what cannot be written down is not done
                await asyncio.gather(*(client.abort() for client in clients.values()), return_exceptions=True)
                raise

    async def _while_stored(self, work: Coroutine[Any, Any, OrderReport], lost: asyncio.Future[None]) -> OrderReport:
        """Ends the work as soon as what is seen meanwhile cannot be stored."""
        task = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.wait((task, lost), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                lost.result()
            return await task
        finally:
            task.cancel()
            await asyncio.wait((task,))

    def _listen(self) -> Callable[[], None]:
        """Takes what detectors say; returns how to stop that."""
        on_demand = self._requests.detectors
        stops = [self._ports.watch(detector, self._see) for detector in self._views if detector not in on_demand]
        stops.append(self._requests.stop)

        def stop() -> None:
            for one in stops:
                one()

        return stop

    def _see(self, frame: Detections) -> None:
        """Schedules tracking of a frame: recognition takes its time."""
        self._frames.setdefault(frame.source, deque()).append(frame)
        asyncio.get_running_loop().call_later(PERCEPTION_S, self._track, frame.source)

    def _track(self, detector: str) -> None:
        frame = self._frames[detector].popleft()  # timers of one moment come in any order, its frames must not
        self._requests.done(frame.source)
        if self._lost is None or self._lost.done():
            return
        if self._kits != self.belief.state.tray_of:  # slots of a tray that has become a kit are named after it
            self._kits = dict(self.belief.state.tray_of)
            self._tracker.set_holders({tray: kit for kit, tray in self._kits.items()})
        self._tracker.set_held(in_hands(self.belief.state))
        is_wanted = self._wants(frame.source)
        if not is_wanted and not self._ports.topics.has_listener(TRACKS_TOPIC):
            self._tracker.follow(frame)
            return
        tracks = self._tracker.take(frame)
        self.belief.note_detectors(self._tracker.status, frame.time_ns)
        self._ports.topics.publish(TRACKS_TOPIC, tracks)
        if is_wanted:
            try:
                self.belief.take(tracks)
            except DatabaseError as error:
                self._lost.set_exception(error)

    def _wants(self, source: str) -> bool:
        """Returns whether a frame is processed; most are skipped: what they say is in the next one, too."""
        self._left_out[source] = (self._left_out[source] + 1) % EVERY
        is_watched = self.belief.watched_s.get(source, -1.0) >= self._ports.clock.time_s - ATTENTION_S
        if source in self._requests.detectors:
            return True
        return self._left_out[source] == 0 or source not in self.belief.frames_s or is_watched

    def _tell(self, message: Plan | ActionEvent) -> None:
        self._ports.topics.publish(PLANS_TOPIC if isinstance(message, Plan) else ACTIONS_TOPIC, message)


def _joined(before: OrderReport | None, account: OrderReport) -> OrderReport:
    """Returns an account with what was done for earlier orders."""
    if before is None:
        return account
    return replace(
        account,
        actions=before.actions + account.actions,
        plans=before.plans + account.plans,
        retries=before.retries + account.retries,
        looks=before.looks + account.looks,
        start_s=before.start_s,
    )


def controller_database(
    drawings: Drawings,
    orders: Iterable[AnnouncedOrder],
    robots: Sequence[str] | None = None,
    url: str | Path = "sqlite://",
) -> Database:
    """Returns a new database with what the drawings say, in which the controller keeps what it believes.

    Unnamed trays of kinds of which every order names its own are left out: nothing is to be built on them.
    """
    known = list(orders)
    wanted, ordered = [order.wanted for order in known], [kit for order in known for kit in order.kits]
    workstation, _ = planning_workstation(drawings.cell, wanted, robots, drawings.layout)
    named = {kit.tray for kit in ordered if kit.tray is not None}
    bound = {kit.design.tray_sku for kit in ordered} - {kit.design.tray_sku for kit in ordered if kit.tray is None}
    kits = tuple(kit for kit in workstation.kits if kit.name in named or kit.tray_sku not in bound)
    return filled_database(url, replace(workstation, kits=kits), designs_for(wanted))


def expected_in(believed: BeliefState) -> list[ExpectedObject]:
    """Returns everything that is believed to be there, for a tracker that has seen nothing yet."""
    kit_of = {tray: kit for kit, tray in believed.tray_of.items()}
    found = []
    for thing in believed.of_kind("Part", "PartsTray", "KitTray"):
        if not believed.has_pose(thing.name):
            continue
        variances = believed.variances(thing.name)
        deviation_m, deviation_rad = float(np.sqrt(variances[:3].max())), float(np.sqrt(variances[5]))
        holder = kit_of.get(thing.name, "") if thing.kind == "KitTray" else None
        pose = believed.pose(thing.name)
        found.append(ExpectedObject(thing.name, thing.sku, pose, deviation_m, deviation_rad, holder))
    return found
