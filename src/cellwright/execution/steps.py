"""The implementation of each verb of a plan: a look, a decision, or CRCL commands as in the lab's recipes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.binding import candidates, is_touched, open_slot, wrong_part
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.grasps import GraspChoice, free_grasps, release_pose
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.observation import ObservationTimeout, Observer, observe_trays
from cellwright.execution.overhead_way import OverheadWay
from cellwright.execution.pick_place import Hold, PickPlace
from cellwright.execution.tray_steps import TraySteps
from cellwright.knowledge import BelievedPart, BelievedSlot
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["StepRunner"]

MOVED_M = 0.004  # a part that is farther than this from where it was found has been moved
TILTED_RAD = float(np.radians(8.0))  # or that leans otherwise by more


@dataclass
class StepRunner:
    """The steps of one robot.

    Attributes:
        manipulator: The robot.
        observer: Waits for detections.
        designs: Kit -> what it shall become.
        left_out: Parts that are not to be taken.
        attempt: 1 for the first try of an action; the second is slower, the third takes another part.
        turned: How often the grip itself has failed; changes the grasp.
    """

    manipulator: Manipulator
    observer: Observer
    designs: Mapping[str, KitDesign]
    left_out: Collection[str]
    attempt: int = 1
    turned: int = 0

    @cached_property
    def pick_place(self) -> PickPlace:
        """The pick and place of its hand."""
        return PickPlace(self.manipulator.hand, self.manipulator.note_phase)

    @cached_property
    def trays(self) -> TraySteps:
        """The steps with kit trays and kits."""
        return TraySteps(self.manipulator, self.observer, self.designs, self.pick_place)

    async def do(self, action: Action) -> str:
        """Does a step; says what was done.

        Raises:
            StepFailed: It could not be done.
        """
        handlers: dict[Verb, Callable[[Action], Awaitable[str]]] = {
            Verb.LOOK_PART: self._look_part,
            Verb.SET_GRASP: self._set_grasp,
            Verb.TAKE_PART: self._take_part,
            Verb.LOOK_SLOT: self._look_slot,
            Verb.PLACE_PART: self._place_part,
            Verb.RETURN_PART: self._return_part,
            Verb.REMOVE_PART: self._remove_part,
        }
        try:
            return await (handlers | self.trays.handlers())[action.verb](action)
        except ObservationTimeout as error:
            raise StepFailed(FailureKind.UNSEEN, str(error), self.manipulator.held) from None

    # ------------------------------------------------------------ looking and deciding

    async def _look_part(self, action: Action) -> str:
        await self._see(action.place, action.sku)
        part = self._choose(action)
        self.manipulator.found = part.name
        x, y, _ = part.position
        return f"{part.name} at ({x:.4f}, {y:.4f}) m, known to {part.sd_m * 1000:.2f} mm"

    async def _set_grasp(self, action: Action) -> str:
        manipulator = self.manipulator
        if not manipulator.found:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} was found before")
        manipulator.grasp = await self._grasp(manipulator.believed.part(manipulator.found))
        return f"fingers turned by {manipulator.grasp.yaw_rad:.2f} rad"

    async def _look_slot(self, action: Action) -> str:
        manipulator = self.manipulator
        await self._see(action.kit)
        slot, why = open_slot(manipulator.believed, action.kit, self.designs[action.kit], action.sku)
        if slot is None:
            raise StepFailed(
                FailureKind.OCCUPIED, f"{action.kit} has no open slot for {action.sku}: {why}", manipulator.held
            )
        manipulator.slot = slot
        return f"{slot.name} of {action.kit}"

    async def _see(self, place: str, sku: str | None = None) -> None:
        """Observes a place and what may be there; what was not seen is missing."""
        believed = self.manipulator.believed
        anchor = believed.detected_as(place)
        is_part = anchor in believed.objects and believed.objects[anchor].kind == "Part"
        held = set(believed.held.values())
        parts = [thing.name for thing in believed.of_kind("Part") if thing.name not in held]
        observation = await observe_trays(self.observer, [] if is_part else [anchor], parts)
        source = believed.source(anchor)
        near = {name for name in observation.unseen if believed.source(name) in ("", source)}
        self.manipulator.belief.note_missing(near, found=observation.seen)

    async def _is_in_next_frame(self, part: str) -> bool:
        """Returns whether a part is in the next frame of the detector that saw it last."""
        believed, source = self.manipulator.believed, self.manipulator.believed.source(part)
        anchors = [tray for tray in believed.trays() if believed.source(tray) == source]
        return part in (await self.observer.observe(anchors[:1], [part], sightings=1)).seen

    def _choose(self, action: Action) -> BelievedPart:
        manipulator = self.manipulator
        good, reasons = candidates(manipulator.believed, action.sku, action.place, manipulator.recipe, self.left_out)
        if not good:
            why = "; ".join(reasons)
            raise StepFailed(FailureKind.NOT_THERE, f"nothing to take at {action.place}: {why}", manipulator.found)
        if manipulator.hand.reading is not None:  # those first that fingers get at, and that nothing leans on
            others = manipulator.believed.parts()
            gripper = manipulator.hand.reading.gripper
            good.sort(key=lambda part: (not free_grasps(part, others, gripper), is_touched(part, others)))
        return good[(self.attempt - 1) % len(good)] if self.attempt > 2 else good[0]

    async def _grasp(self, part: BelievedPart) -> GraspChoice:
        reading = self.manipulator.hand.reading or await self.manipulator.hand.read()
        grasps = free_grasps(part, self.manipulator.believed.parts(), reading.gripper, self.manipulator.turned_rad)
        if not grasps:
            raise StepFailed(
                FailureKind.NOT_THERE, f"fingers do not fit between {part.name} and its neighbours", part.name
            )
        return grasps[self.turned % len(grasps)]

    # ------------------------------------------------------------ taking

    async def _take_part(self, action: Action) -> str:
        manipulator = self.manipulator
        if not manipulator.found or manipulator.grasp is None:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} was found and no grasp set before")
        return await self._take(manipulator.believed.part(manipulator.found), manipulator.grasp)

    async def _remove_part(self, action: Action) -> str:
        manipulator = self.manipulator
        await self._see(action.kit)
        part, slot = wrong_part(manipulator.believed, action.kit, self.designs[action.kit], action.sku)
        if part is None or slot is None:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} is in a wrong slot of {action.kit}")
        manipulator.found = part.name
        return f"out of {slot.name}: " + await self._take(part, await self._grasp(part))

    async def _take(self, part: BelievedPart, grasp: GraspChoice) -> str:
        manipulator, recipe = self.manipulator, self.manipulator.recipe
        is_careful = self.attempt > 1 or manipulator.misses > 0
        slow_mps = recipe.careful_mps if is_careful else recipe.slow_mps

        async def look() -> Pose:
            await manipulator.hand.read()
            near = grasp.nearest(manipulator.turned_rad)
            await manipulator.approach(near.pose_tool(part))
            if not await self._is_in_next_frame(part.name):
                manipulator.belief.note_missing([part.name])
                raise StepFailed(FailureKind.NOT_THERE, f"{part.name} is not seen any more", part.name)
            now = manipulator.believed.part(part.name)
            moved_m = float(np.linalg.norm(now.position - part.position))
            if moved_m > MOVED_M or abs(now.tilt_rad - part.tilt_rad) > TILTED_RAD:
                raise StepFailed(FailureKind.NOT_THERE, f"{part.name} was moved by {moved_m * 1000:.0f} mm", part.name)
            return near.pose_tool(now)

        lift_mps = slow_mps if is_careful else recipe.fast_mps
        way = OverheadWay(manipulator, grasp.pose_tool(part), look, slow_mps, slow_mps, lift_mps)
        reading = await self.pick_place.pick(way, self._hold(part))
        return f"{part.name}, fingers at {reading.width_m * 1000:.1f} mm"

    def _hold(self, part: BelievedPart) -> Hold:
        reading, recipe = self.manipulator.hand.reading, self.manipulator.recipe
        return Hold.of_part(part, reading.gripper if reading else "", recipe.grip_tolerance_m)

    # ------------------------------------------------------------ putting

    async def _place_part(self, action: Action) -> str:
        manipulator = self.manipulator
        if manipulator.slot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"no slot of {action.kit} was found before", manipulator.held)
        slots = manipulator.believed.slots_of_kit(action.kit, self.designs[action.kit])
        slot = next(slot for slot in slots if slot.name == manipulator.slot.name)
        return await self._put(slot, action.kit)

    async def _return_part(self, action: Action) -> str:
        manipulator, believed = self.manipulator, self.manipulator.believed
        tray, _, name = action.place.partition("/")  # one slot of a tray for other parts, when nothing else is left
        await self._see(tray)
        parts = believed.parts()
        slots = [slot for slot in believed.slots_of_tray(tray) if name in ("", slot.name)]
        slot = next((slot for slot in slots if believed.part_in(slot, parts) is None), None)
        if slot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"{action.place} has no empty slot", manipulator.held)
        return await self._put(slot, tray)

    async def _put(self, slot: BelievedSlot, where: str) -> str:
        manipulator, recipe, believed = self.manipulator, self.manipulator.recipe, self.manipulator.believed
        if not manipulator.held:
            raise StepFailed(FailureKind.LOST, f"{manipulator.name} holds nothing to put into {where}")
        part, anchor = believed.part(manipulator.held), believed.detected_as(where.partition("/")[0])

        async def look() -> Pose:
            await observe_trays(self.observer, [anchor], sightings=1)
            there = believed.part_in(slot)
            if there is not None:
                raise StepFailed(FailureKind.OCCUPIED, f"{there.name} is in {slot.name} of {where}", part.name)
            pose = await self._release(slot)
            if manipulator.slipped_m:  # then where exactly it hangs is worth a longer look
                await observe_trays(self.observer, [anchor])
                pose = await self._release(slot)
            await manipulator.approach(pose)
            return pose

        slow_mps = recipe.slow_mps if self.attempt == 1 else recipe.careful_mps
        way = OverheadWay(manipulator, await self._release(slot), look, slow_mps, recipe.fast_mps, recipe.fast_mps)
        await self.pick_place.place(way, self._hold(part))
        manipulator.grasp = None
        return f"{part.name} into {slot.name} of {where}"

    async def _release(self, slot: BelievedSlot) -> Pose:
        """Returns the pose at which the tool releases the held part."""
        manipulator, reading = self.manipulator, await self.manipulator.hand.read()
        point = slot.position + np.array([0.0, 0.0, manipulator.recipe.release_m])
        return release_pose(reading.pose_tool_in_world, manipulator.part_in_hand(reading), point)
