"""One gear from a slot of a parts tray into a slot of a kit tray, from what a detector sees; judged by the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cellwright.catalogue import SlotFigures, TrayFigures, part_of_sku, seated_pose
from cellwright.core.errors import CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import Tracks
from cellwright.core.pose import Pose
from cellwright.execution import Hold, PickPlace, PickPlacePhase, RobotHand, StraightWay
from cellwright.execution.grasps import GraspChoice
from cellwright.judge import Seating, judge_slot
from cellwright.knowledge import BelievedPart
from cellwright.lab import DirectArm, Lab
from cellwright.perception import look, nearest_track

__all__ = ["GearTransfer", "TransferOutcome", "transfer_gear"]

REST_S = 0.5  # what was let go, or fell, comes to rest before it is judged


@dataclass(frozen=True)
class TransferOutcome:
    """The outcome of a transfer.

    Attributes:
        done: Whether the gear is seated, by the true state, and the controller knows of no failure.
        reason: Why not, or how well.
        seating: The judge's verdict on the slot.
    """

    done: bool
    reason: str
    seating: Seating


def transfer_gear(
    lab: Lab,
    robot: str = "fanuc",
    source: str = "fanuc_medium_tray/slot_1",
    target: str = "fanuc_kit_m2l1/slot_1",
) -> TransferOutcome:
    """Transfers one gear and judges it."""
    failure = lab.perform(GearTransfer(lab, DirectArm(lab.robot(robot), lab.clock), source, target).run())
    seating = judge_slot(lab.world, target)
    reason = f"{failure} (slot: {seating.reason})" if failure else seating.reason
    return TransferOutcome(seating.seated and not failure, reason, seating)


class GearTransfer:
    """A transfer of one gear.

    Args:
        lab: Its detectors, its drawings and its clock are used.
        arm: The robot.
        source: The tray and slot that the gear is taken from.
        target: The tray and slot that it goes into.
        on_phase: Is told of every phase.

    Raises:
        UnknownName: for a slot that a tray does not have.
    """

    def __init__(
        self,
        lab: Lab,
        arm: DirectArm,
        source: str,
        target: str,
        on_phase: Callable[[PickPlacePhase, str], None] = lambda _phase, _gear: None,
    ) -> None:
        self._lab = lab
        self._arm = arm
        self._source = source
        self._target = target
        self._on_phase = on_phase
        self._figures = {place: _figures(lab, place) for place in (source, target)}

    async def run(self) -> str:
        """Looks, takes, sets down, goes home; returns why that failed, or an empty text."""
        failure = ""
        try:
            await self._run()
        except CellwrightError as error:
            failure = str(error)
        await self._lab.clock.sleep(REST_S)
        return failure

    async def _run(self) -> None:
        arm = self._arm
        hand = RobotHand(arm, self._lab.clock)
        grasp = GraspChoice(gripper=(await hand.read()).gripper)
        tracks = await look(self._lab.bus, self._lab.clock, f"detector_{arm.name}")
        gear, seat = self._gear(tracks), self._seat(tracks, self._target)
        work, hold = PickPlace(hand, self._on_phase), Hold.of_part(gear, grasp.gripper, arm.recipe.grip_tolerance_m)
        await work.pick(StraightWay.from_above(arm, grasp.pose_tool(gear)), hold)
        above = Pose.from_xyz_rpy([0.0, 0.0, arm.recipe.release_m]) @ seat
        placed = BelievedPart(gear.name, gear.sku, above.matrix, 0.0)
        await work.place(StraightWay.from_above(arm, grasp.pose_tool(placed)), hold)
        await arm.robot.move_home(arm.joint_speed)

    def _gear(self, tracks: Tracks) -> BelievedPart:
        """Returns the gear that is seen in the slot."""
        _, slot = self._figures[self._source]
        pose = nearest_track(tracks, slot.accepts, self._seat(tracks, self._source).position, slot.top_radius_m / 2)
        if pose is None:
            raise JobFailed(f"no gear is seen in {self._source}")
        return BelievedPart(f"gear of {self._source}", slot.accepts, pose.matrix, 0.0)

    def _seat(self, tracks: Tracks, place: str) -> Pose:
        """Returns the pose of a seated gear in a slot, by where its tray is seen."""
        tray, slot = self._figures[place]
        name = place.partition("/")[0]
        pose = nearest_track(tracks, tray.sku, self._lab.nominal.objects[name].pose_in_world.position)
        if pose is None:
            raise JobFailed(f"{name} is not in view")
        return pose @ seated_pose(tray, slot, part_of_sku(slot.accepts))


def _figures(lab: Lab, place: str) -> tuple[TrayFigures, SlotFigures]:
    name, _, slot_name = place.partition("/")
    tray = lab.world.object(name).figures
    slots = {slot.name: slot for slot in tray.slots} if isinstance(tray, TrayFigures) else {}
    if not isinstance(tray, TrayFigures) or slot_name not in slots:
        raise UnknownName(f"slot of {name}", slot_name, slots)
    return tray, slots[slot_name]
