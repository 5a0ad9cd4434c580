"""Steps with kit trays and whole kits: out of their box, onto a table, into the other box, held by suction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.action_questions import ActionQuestions
from cellwright.execution.arm import HandReading
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.overhead_way import OverheadWay
from cellwright.execution.pick_place import Hold, PickPlace
from cellwright.execution.scene_watch import gone_failure
from cellwright.execution.surroundings import carried
from cellwright.execution.trays import TrayHold, free_spot, hold_of, kit_tray_of, spot_on_table, top_trays
from cellwright.knowledge import Unknown
from cellwright.knowledge.belief_writer import begin_kit, set_down
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["TRAY_VERBS", "TraySteps"]

TRAY_VERBS = (
    Verb.TAKE_TRAY, Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.CREATE_KIT, Verb.TAKE_KIT, Verb.PLACE_KIT,
)  # fmt: skip
PRESS_M = 0.0015  # by which cups are pressed onto a tray to seal
RELEASE_M = 0.001  # how high above its place a tray is let go
LEVEL_SD_M = 0.0007  # trays whose height is known so well tell that of their table, when it differs by more
MOST_ABOVE_M = 0.010  # a tray that is seen farther from the top of a table does not stand on it
SEALED_N = 25.0  # stops cups that are pressed onto something: twice what sealing takes


@dataclass
class TraySteps:
    """The steps of one robot.

    Attributes:
        manipulator: The robot.
        asking: Looks for what must be seen.
        designs: Kit -> what it shall become.
        pick_place: Of its hand.
    """

    manipulator: Manipulator
    asking: ActionQuestions
    designs: Mapping[str, KitDesign]
    pick_place: PickPlace

    def handlers(self) -> dict[Verb, Callable[[Action], Awaitable[str]]]:
        """Returns verb -> its implementation."""
        return {
            Verb.TAKE_TRAY: self._take_tray,
            Verb.PLACE_TRAY: self._place_tray,
            Verb.RETURN_TRAY: self._return_tray,
            Verb.CREATE_KIT: self._create_kit,
            Verb.TAKE_KIT: self._take_kit,
            Verb.PLACE_KIT: self._place_kit,
        }

    def subject(self, action: Action) -> str:
        """Returns the kit tray or kit that a step is about, as far as that is known before it."""
        manipulator = self.manipulator
        if action.verb is Verb.TAKE_TRAY:
            return manipulator.found or next(iter(top_trays(manipulator.believed, action.place)), "")
        if action.verb is Verb.TAKE_KIT:
            return action.kit
        if action.verb is Verb.CREATE_KIT:
            return self._tray_on(action.place)
        return manipulator.held

    # ------------------------------------------------------------ taking

    async def _take_tray(self, action: Action) -> str:
        manipulator, believed = self.manipulator, self.manipulator.believed
        for _ in top_trays(believed, action.place):  # what turns out to be gone gives way to the one below
            await self.asking.look(self.asking.before(action))
            top = next(iter(top_trays(believed, action.place)), "")
            if top and not isinstance(believed.seen_s(top), Unknown):
                return await self._take(top, top)
        raise StepFailed(FailureKind.NOT_THERE, f"no kit tray is seen in {action.place}", manipulator.found)

    async def _take_kit(self, action: Action) -> str:
        tray = kit_tray_of(self.manipulator.believed, action.kit)
        await self._see(tray)
        return await self._take(action.kit, tray)

    async def _see(self, tray: str) -> None:
        """Looks at a tray; one that is not seen, although it is in view, is gone."""
        found = await self.asking.look([self.asking.of(tray)])
        if found.unseen:
            raise StepFailed(FailureKind.NOT_THERE, f"{tray} is not seen any more", tray)

    async def _take(self, thing: str, tray: str) -> str:
        manipulator, slow_mps = self.manipulator, self.manipulator.recipe.slow_mps
        hold, before = self._hold(tray), manipulator.believed.pose(tray)

        def gone(_reading: HandReading | None = None) -> StepFailed | None:
            believed = manipulator.believed
            return gone_failure(believed, tray, believed.pose(tray).distance_m(before), thing)

        async def above() -> Pose:
            await manipulator.hand.read()
            if failure := gone():
                raise failure
            now = manipulator.believed.pose(tray)
            await manipulator.approach(hold.pose_tool(now, manipulator.turned_rad))
            return hold.pose_tool(now, manipulator.turned_rad, PRESS_M)

        start = hold.pose_tool(before, manipulator.turned_rad)
        way = OverheadWay(manipulator, start, above, slow_mps, slow_mps, slow_mps, tray, SEALED_N, check=gone)
        await self.pick_place.pick(way, Hold(thing))
        return f"{tray}, its vacuum holds"

    def _hold(self, tray: str) -> TrayHold:
        manipulator, reading = self.manipulator, self.manipulator.hand.reading
        sku, tool = manipulator.believed.objects[tray].sku, reading.gripper if reading else ""
        found = hold_of(sku, tool)
        if found is None:
            raise StepFailed(FailureKind.UNABLE, f"{tool or 'a bare flange'} cannot carry {sku}", tray)
        return found

    # ------------------------------------------------------------ setting down

    async def _place_tray(self, action: Action) -> str:
        return await self._put(spot_on_table(self.manipulator.believed, action.place), action.place)

    async def _return_tray(self, action: Action) -> str:
        believed, tray = self.manipulator.believed, self.manipulator.held
        there = top_trays(believed, action.place)
        spot = believed.pose(action.place)
        if there:
            height_m = self._hold(tray).tray.thickness_m
            spot = believed.pose(there[0]) @ Pose.from_xyz_rpy((0.0, 0.0, height_m))
        return await self._put(spot, action.place)

    async def _place_kit(self, action: Action) -> str:
        believed = self.manipulator.believed
        tray = self._hold(kit_tray_of(believed, action.kit)).tray
        capacity = believed.capacity(action.place)
        spot = free_spot(believed, action.place, tray, 1 if isinstance(capacity, Unknown) else capacity)
        if spot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"{action.place} has no room for {action.kit}", action.kit)
        return await self._put(spot, action.place)

    async def _put(self, spot: Pose, place: str) -> str:
        manipulator, recipe, thing = self.manipulator, self.manipulator.recipe, self.manipulator.held
        if not thing:
            raise StepFailed(FailureKind.LOST, f"{manipulator.name} holds nothing to put into {place}")
        hold = self._hold(kit_tray_of(manipulator.believed, thing))

        held = Hold(thing, sku=manipulator.held_sku, mass_kg=hold.tray.mass_kg + self._parts_kg())

        def dropped(reading: HandReading) -> StepFailed | None:
            is_lost = held.is_dropped(reading)
            return StepFailed(FailureKind.LOST, held.lost(reading, "on the way"), thing) if is_lost else None

        async def above() -> Pose:
            pose = hold.pose_tool(spot, manipulator.turned_rad, -RELEASE_M)
            await manipulator.approach(pose)
            return pose

        start = hold.pose_tool(spot, manipulator.turned_rad, -RELEASE_M)
        way = OverheadWay(
            manipulator, start, above, recipe.careful_mps, recipe.slow_mps, recipe.slow_mps, place, check=dropped
        )
        manipulator.goes_to = spot
        await self.pick_place.place(way, held)
        set_down(manipulator.belief, thing, place)
        return f"{thing} into {place}" if place in manipulator.believed.relations.capacity else f"{thing} onto {place}"

    def level(self, table: str, flat_detectors: Collection[str] = ()) -> None:
        """Believes a table to be as high as the tray that was set down on it is seen: drawings are not exact.

        Args:
            table: The table.
            flat_detectors: Detectors that measure no heights, and tell nothing about that.
        """
        belief, believed, tray = self.manipulator.belief, self.manipulator.believed, self._tray_on(table)
        if believed.kind(table) != "WorkTable" or not tray or believed.source(tray) in (*flat_detectors, ""):
            return
        if believed.kind(believed.source(tray)) == "Robot" or believed.variances(tray)[2] > LEVEL_SD_M**2:
            return
        top, pose = spot_on_table(believed, table), believed.pose(tray)
        above_m = float(pose.position[2] - top.position[2])
        if not LEVEL_SD_M < abs(above_m) <= MOST_ABOVE_M:
            return
        moved = Pose.from_xyz_rpy((0.0, 0.0, above_m)) @ believed.pose(table)
        time_s = self.manipulator.hand.clock.time_s
        belief.world_model.observe([table, tray], np.array([moved.matrix, pose.matrix]), time_s, believed.source(tray))

    def _parts_kg(self) -> float:
        """Returns the mass of the parts in or on the tray that it holds."""
        believed = self.manipulator.believed
        return sum(believed.part(name).figures.mass_kg for name in carried(believed) if believed.kind(name) == "Part")

    # ------------------------------------------------------------ what it is then

    async def _create_kit(self, action: Action) -> str:
        manipulator, design = self.manipulator, self.designs[action.kit]
        tray = self._tray_on(action.place)
        if not tray:
            raise StepFailed(FailureKind.NOT_THERE, f"no kit tray is on {action.place}")
        await self._see(tray)
        begin_kit(manipulator.belief, action.kit, design.name, tray, manipulator.hand.clock.time_s)
        return f"{tray} is {action.kit} now"

    def _tray_on(self, table: str) -> str:
        """Returns the kit tray on a table that is no kit yet."""
        believed = self.manipulator.believed
        in_kits, held = set(believed.tray_of.values()), set(believed.held.values())
        trays = [tray.name for tray in believed.of_kind("KitTray") if tray.reference == table]
        return next((tray for tray in trays if tray not in in_kits | held), "")
