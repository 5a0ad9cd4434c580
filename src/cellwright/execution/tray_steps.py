"""Steps with kit trays and whole kits: out of their box, onto a table, into the other box, held by suction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cellwright.core.pose import Pose
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.look import Look
from cellwright.execution.sighting import look_at_trays
from cellwright.execution.trays import TrayHold, free_spot, hold_of, kit_tray_of, spot_on_table, top_trays
from cellwright.execution.worker import Worker
from cellwright.knowledge.kit_records import begin_kit, set_down
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["TRAY_VERBS", "TraySteps"]

TRAY_VERBS = (
    Verb.TAKE_TRAY, Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.CREATE_KIT, Verb.TAKE_KIT, Verb.PLACE_KIT,
)  # fmt: skip
PRESS_M = 0.0015  # by which cups are pressed onto a tray to seal
RELEASE_M = 0.001  # how high above its place a tray is let go
SUCK_S, VENT_S = 0.3, 0.2  # until the vacuum is there, and gone
MOVED_M = 0.004


@dataclass
class TraySteps:
    """The steps of one robot.

    Attributes:
        worker: The robot.
        look: How it looks.
        designs: Kit -> what it shall become.
    """

    worker: Worker
    look: Look
    designs: Mapping[str, KitDesign]

    def ways(self) -> dict[Verb, Callable[[Action], Awaitable[str]]]:
        """Verb -> what does it."""
        return {
            Verb.TAKE_TRAY: self._take_tray,
            Verb.PLACE_TRAY: self._place_tray,
            Verb.RETURN_TRAY: self._return_tray,
            Verb.CREATE_KIT: self._create_kit,
            Verb.TAKE_KIT: self._take_kit,
            Verb.PLACE_KIT: self._place_kit,
        }

    def meant(self, action: Action) -> str:
        """Returns the kit tray or kit that a step is about, as far as that is known before it."""
        worker = self.worker
        if action.verb is Verb.TAKE_TRAY:
            return worker.found or next(iter(top_trays(worker.view, action.place)), "")
        if action.verb is Verb.TAKE_KIT:
            return action.kit
        if action.verb is Verb.CREATE_KIT:
            return self._tray_on(action.place)
        return worker.held

    # ------------------------------------------------------------ taking

    async def _take_tray(self, action: Action) -> str:
        worker, view = self.worker, self.worker.view
        known = top_trays(view, action.place)
        anchors = [tray for tray in view.trays() if view.facts.things[tray].kind == "PartsTray"][:1]
        looked = await self.look.at(anchors, known if anchors else known[:1])
        seen = [tray for tray in known if tray in looked.seen]
        if not seen:
            raise StepFailed(FailureKind.NOT_THERE, f"no kit tray is seen in {action.place}", worker.found)
        return await self._take(seen[0], seen[0], action)

    async def _take_kit(self, action: Action) -> str:
        tray = kit_tray_of(self.worker.view, action.kit)
        await look_at_trays(self.look, self.worker.view, [tray])
        return await self._take(action.kit, tray, action)

    async def _take(self, thing: str, tray: str, action: Action) -> str:
        worker, recipe = self.worker, self.worker.recipe
        hold, before = self._hold(tray), worker.view.pose(tray)
        await worker.let_go()
        await worker.go_above(hold.pose_tool(before, worker.turned_rad))
        await worker.read()
        await worker.approach(hold.pose_tool(before, worker.turned_rad))
        await look_at_trays(self.look, self.worker.view, [tray], sightings=1)
        now = worker.view.pose(tray)
        if now.distance_m(before) > MOVED_M:
            moved_mm = 1000 * now.distance_m(before)
            raise StepFailed(FailureKind.NOT_THERE, f"{tray} was moved by {moved_mm:.0f} mm", thing)
        pose = hold.pose_tool(now, worker.turned_rad, PRESS_M)
        await worker.reach(pose, recipe.slow_mps)
        await worker.suck()
        await worker.dwell(SUCK_S)
        if not (await worker.read()).holding:
            worker.misses += 1
            await worker.let_go()
            await worker.lift(pose, recipe.slow_mps)
            raise StepFailed(FailureKind.MISSED, f"the cups find no hold on {tray}", thing)
        worker.note_held(thing)
        await worker.lift(pose, recipe.slow_mps)
        await self._still_held("while it was lifted")
        return f"{tray}, its vacuum holds"

    def _hold(self, tray: str) -> TrayHold:
        worker = self.worker
        sku, tool = worker.view.facts.things[tray].sku, worker.reading.gripper if worker.reading else ""
        found = hold_of(sku, tool)
        if found is None:
            raise StepFailed(FailureKind.UNABLE, f"{tool or 'a bare flange'} cannot carry {sku}", tray)
        return found

    async def _still_held(self, when: str) -> None:
        worker = self.worker
        if not (await worker.read()).holding:
            lost = worker.held
            worker.misses += 1
            worker.note_released()
            raise StepFailed(FailureKind.LOST, f"{lost} was lost {when}: the cups have no vacuum", lost)

    # ------------------------------------------------------------ setting down

    async def _place_tray(self, action: Action) -> str:
        return await self._put(spot_on_table(self.worker.view, action.place), action.place)

    async def _return_tray(self, action: Action) -> str:
        view, tray = self.worker.view, self.worker.held
        there = top_trays(view, action.place)
        spot = view.pose(action.place)
        if there:
            height_m = self._hold(tray).tray.thickness_m
            spot = view.pose(there[0]) @ Pose.from_xyz_rpy((0.0, 0.0, height_m))
        return await self._put(spot, action.place)

    async def _place_kit(self, action: Action) -> str:
        view = self.worker.view
        tray = self._hold(kit_tray_of(view, action.kit)).tray
        spot = free_spot(view, action.place, tray, view.facts.capacity.get(action.place, 1))
        if spot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"{action.place} has no room for {action.kit}", action.kit)
        return await self._put(spot, action.place)

    async def _put(self, spot: Pose, place: str) -> str:
        worker, recipe, thing = self.worker, self.worker.recipe, self.worker.held
        if not thing:
            raise StepFailed(FailureKind.LOST, f"{worker.name} holds nothing to put into {place}")
        hold = self._hold(kit_tray_of(worker.view, thing))
        await self._still_held("before it was carried")
        await worker.go_above(hold.pose_tool(spot, worker.turned_rad, -RELEASE_M))
        await self._still_held("on the way")
        pose = hold.pose_tool(spot, worker.turned_rad, -RELEASE_M)
        await worker.approach(pose)
        await worker.reach(pose, recipe.careful_mps)
        await self._still_held("on the way down")
        await worker.dwell(recipe.settle_s)
        await worker.let_go()
        worker.note_released()
        worker.misses = 0
        await worker.dwell(VENT_S)
        await worker.lift(pose, recipe.slow_mps)
        set_down(worker.view.belief, thing, place)
        worker.view.refresh()
        return f"{thing} into {place}" if place in worker.view.facts.capacity else f"{thing} onto {place}"

    # ------------------------------------------------------------ what it is then

    async def _create_kit(self, action: Action) -> str:
        worker, design = self.worker, self.designs[action.kit]
        tray = self._tray_on(action.place)
        if not tray:
            raise StepFailed(FailureKind.NOT_THERE, f"no kit tray is on {action.place}")
        await look_at_trays(self.look, self.worker.view, [tray])
        begin_kit(worker.view.belief, action.kit, design.name, tray, worker.clock.time_s)
        worker.view.refresh()
        return f"{tray} is {action.kit} now"

    def _tray_on(self, table: str) -> str:
        """Returns the kit tray on a table that is no kit yet."""
        facts = self.worker.view.facts
        in_kits, held = set(facts.tray_of.values()), set(facts.held.values())
        trays = [tray.name for tray in facts.of_kind("KitTray") if tray.reference == table]
        return next((tray for tray in trays if tray not in in_kits | held), "")
