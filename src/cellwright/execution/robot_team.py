"""The robots of an order: made ready at the beginning, asked what they hold, sent to rest at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from cellwright.catalogue import ArmFigures, FurnitureFigures
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.execution.arm import ArmClient, ArmFailed
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.detours import Detours
from cellwright.execution.failure import StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.progress import OrderProgress
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surface_heights import SurfaceHeights, drawn_surfaces
from cellwright.execution.way_finder import WayFinder
from cellwright.knowledge import Belief
from cellwright.perception import ViewModel

__all__ = ["RobotTeam", "make_manipulators"]


def make_manipulators(
    belief: Belief,
    clients: Mapping[str, CrclClient],
    clock: AsyncClock,
    settings: ExecutionSettings,
    models: Mapping[str, ArmFigures] | None = None,
    view: ViewModel | None = None,
    fixtures: Sequence[tuple[str, FurnitureFigures, Pose]] = (),
) -> dict[str, Manipulator]:
    """Returns robot -> its manipulator, over an open CRCL client.

    Args:
        belief: What is believed.
        clients: Robot -> its client.
        clock: Time to wait by.
        settings: How to work.
        models: Robot -> the figures of its arm, by which it is known what that hides.
        view: Is told where the arms are.
        fixtures: What stands about by the drawings: name, figures, pose.

    Raises:
        UnknownName: A robot that the database does not have.
    """
    believed = belief.state
    known = [thing.name for thing in believed.of_kind("Robot")]
    for robot in clients:
        if robot not in known:
            raise UnknownName("robot", robot, known, "executor")
    how, felt = (settings.recipe, settings.tool_models), settings.force_sensors
    found: dict[str, Manipulator] = {}
    for robot, client in clients.items():
        offset = settings.tool_offsets.get(robot)
        arm = ArmClient(robot, client, believed.pose(robot), *how, felt.get(robot, ""), offset)
        model = (models or {}).get(robot)
        capsules = None if model is None else ArmCapsules(model, believed.pose(robot))
        tool, hand = believed.tool_of.get(robot, ""), RobotHand(arm, clock)
        heights = SurfaceHeights(drawn_surfaces(believed))
        found[robot] = Manipulator(arm, hand, belief, tool, capsules=capsules, view=view, heights=heights)
        arm.on_motion = found[robot].note_motion
        arm.above_m = heights.above_m
        if model is not None:
            finder = WayFinder(robot, model, believed.pose(robot), fixtures)
            latency_s = settings.latencies.planning_s
            found[robot].detours = Detours(found[robot], finder, found, models or {}, latency_s)
    return found


class RobotTeam:
    """All robots: those that work, those that only make way, and those that do neither any more.

    Args:
        manipulators: All of them.
        names: The robots that work.

    Attributes:
        notes: Findings about the robots, a line each.
    """

    def __init__(self, manipulators: Mapping[str, Manipulator], names: Sequence[str]) -> None:
        self.manipulators = manipulators
        self._names = names
        self.notes: list[str] = []

    def in_service(self) -> list[Manipulator]:
        """Returns the robots that can move."""
        return [manipulator for manipulator in self.manipulators.values() if not manipulator.out_of_service]

    def working(self) -> dict[str, Manipulator]:
        """Returns the robots that have work and can do it."""
        return {name: self.manipulators[name] for name in self._names if not self.manipulators[name].out_of_service}

    @property
    def failure_reason(self) -> str:
        """The reason why no robot works; empty while one does."""
        return "" if self.working() else "; ".join(f"{n}: {self.manipulators[n].out_of_service}" for n in self._names)

    async def prepare(self, belief: Belief, progress: OrderProgress) -> None:
        """Gets them ready; where they rest is what is known of earlier work, else where they stand."""
        held = belief.state.held
        for manipulator in self.manipulators.values():
            known, point = progress.rest_rad.get(manipulator.name), progress.rest_point.get(manipulator.name)
            if known and point:
                manipulator.arm.rest_rad, manipulator.arm.rest_point = tuple(known), (point[0], point[1], point[2])
            manipulator.held = held.get(manipulator.tool, "")
            try:
                manipulator.hand.reading = await manipulator.arm.prepare()
            except ArmFailed as error:
                manipulator.out_of_service = str(error)
                continue
            progress.rest_rad[manipulator.name] = list(manipulator.arm.rest_rad or ())
            progress.rest_point[manipulator.name] = list(manipulator.arm.rest_point or ())

    async def tare(self) -> None:
        """Measures what empty hands weigh, of the robots that work, all at a time."""
        empty = [robot.hand for robot in self.working().values() if not robot.held]
        await asyncio.gather(*(hand.tare() for hand in empty if hand.reading is None or not hand.reading.holding))

    async def recover(self, manipulator: Manipulator) -> None:
        """Finds out what a robot has in its hand; one that cannot even rise does not work any more."""
        if manipulator.out_of_service:
            return
        try:
            found = await manipulator.recover()
        except StepFailed as failure:
            manipulator.out_of_service = str(failure)
            return
        if found:
            self.notes.append(f"{manipulator.name}: {found}")

    async def withdraw(self) -> str:
        """Sends them out of the way; says what is still in a hand."""
        hands = []
        for manipulator in self.in_service():
            try:
                await manipulator.withdraw()
                reading = await manipulator.hand.read()
            except StepFailed as failure:
                manipulator.out_of_service = str(failure)
                continue
            if manipulator.held or reading.holding:
                hands.append(f"{manipulator.name} holds {manipulator.held or 'something'}")
        return "; ".join(hands)
