"""The first job: one gear from its parts tray into a slot of a kit tray, judged by the truth."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cellwright.catalogue import TRAYS, SlotFigures, TrayFigures, TrayKind
from cellwright.cells import Cell
from cellwright.core.bus import Role
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.messages import ActionEvent, Detections, Verdict
from cellwright.execution import AveragedScene, JobStep, Transfer
from cellwright.judge import Seating, judge_slot
from cellwright.lab.lab import Lab

__all__ = ["JobReport", "TransferJob", "run_transfer"]

LOOK_FRAMES = 5
LOOK_LIMIT_S = 60.0
REST_S = 0.5


@dataclass(frozen=True)
class TransferJob:
    """The job: which robot fills which slot of which kind of kit tray, looking through which detector."""

    robot: str = "fanuc"
    kit: str = "kit_m2l1_tray"
    slot: str = "slot_1"

    @property
    def detector(self) -> str:
        """The detector over the robot's table."""
        return f"/detector_{self.robot}/detections"

    def check(self, cell: Cell) -> None:
        """Refuses what the cell does not have; cheaper than finding out in a laboratory.

        Raises:
            BadInput: with the names that would do.
        """
        if self.robot not in cell.robots:
            raise UnknownName("robot", self.robot, cell.robots, cell.where)
        _figures(self)
        here = {tray.model for tray in cell.trays.values()}
        if self.kit not in here:
            raise UnknownName("kit tray", self.kit, here & _kits(), cell.where)


@dataclass(frozen=True)
class JobReport:
    """The report of a job.

    Attributes:
        done: Whether the gear is seated, by the true state, and the controller knows of no failure.
        reason: Why not, or how well.
        steps: What the controller did, with times.
        seating: The judge's verdict on the slot.
        time_s: Simulation time at the end.
        grasp_lock_uses: How often the grasp lock was used; 0 means friction alone.
    """

    done: bool
    reason: str
    steps: tuple[JobStep, ...]
    seating: Seating
    time_s: float
    grasp_lock_uses: int

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def run_transfer(lab: Lab, job: TransferJob) -> JobReport:
    """Does the job in a laboratory and judges it."""
    job.check(lab.cell)
    kit, slot, supply = _figures(job)
    if job.detector not in lab.bus.topics:
        raise UnknownName("detector", job.detector, [t for t in lab.bus.topics if t.endswith("/detections")])
    tray = _kit_tray_of(lab, job)
    sequence = 0

    def tell(step: JobStep, phase: str) -> None:
        nonlocal sequence
        event = ActionEvent(
            lab.world.clock.time_ns, sequence, "execution", job.robot, step.name, phase, step.detail, (), (), ()
        )
        lab.bus.publish("/execution/actions", event)
        sequence += 1

    async def look() -> AveragedScene:
        return AveragedScene(await _fresh_frames(lab, job.detector))

    expected = lab.nominal.objects[tray].pose_in_world.position
    hand = lab.world.robots[job.robot].tool
    tool = None if hand is None else hand.figures
    transfer = Transfer(lab.robot(job.robot), lab.clock, look, supply, kit, slot, expected, tell, tool)

    async def work() -> str:
        failure = ""
        try:
            await transfer.run()
        except JobFailed as error:
            failure = str(error)
        await lab.clock.sleep(REST_S)  # what was let go, or fell, comes to rest before it is judged
        return failure

    failure = lab.perform(work())
    seating = Seating(f"{tray}/{job.slot}", "", False, "the tray is gone")
    if tray in lab.world.objects:
        seating = judge_slot(lab.world, seating.slot)
    _publish_verdict(lab, seating)
    uses = lab.grasp_lock.uses if lab.grasp_lock else 0
    reason = seating.reason if not failure else f"{failure} (slot: {seating.reason})"
    done = seating.seated and not failure
    return JobReport(done, reason, tuple(transfer.steps), seating, lab.clock.time_s, uses)


async def _fresh_frames(lab: Lab, topic: str) -> list[Detections]:
    """Returns the next few frames that were taken from now on; older ones may still be under way."""
    start_ns = lab.world.clock.time_ns
    frames: list[Detections] = []
    enough = lab.loop.create_future()

    def receive(_topic: str, message: Detections) -> None:
        if message.time_ns >= start_ns:
            frames.append(message)
        if len(frames) >= LOOK_FRAMES and not enough.done():
            enough.set_result(None)

    subscription = lab.bus.subscribe(topic, receive, subscriber="execution", role=Role.CONTROLLER)
    try:
        await asyncio.wait_for(enough, LOOK_LIMIT_S)
    except TimeoutError:
        problem = f"{topic} gave {len(frames)} of {LOOK_FRAMES} frames in {LOOK_LIMIT_S:g} s"
        raise JobFailed(f"nothing to see: {problem}") from None
    finally:
        lab.bus.unsubscribe(subscription)
    return frames


def _kits() -> set[str]:
    return {name for name in TRAYS if TRAYS.get(name).kind is TrayKind.KIT}


def _figures(job: TransferJob) -> tuple[TrayFigures, SlotFigures, TrayFigures]:
    if job.kit not in _kits():
        raise UnknownName("kit tray", job.kit, _kits())
    kit = TRAYS.get(job.kit)
    slots = {slot.name: slot for slot in kit.slots}
    if job.slot not in slots:
        raise UnknownName(f"slot of {job.kit}", job.slot, slots)
    slot = slots[job.slot]
    for name in TRAYS:
        supply = TRAYS.get(name)
        if supply.kind is TrayKind.PARTS and any(s.accepts == slot.accepts for s in supply.slots):
            return kit, slot, supply
    raise BadInput(f"no parts tray supplies {slot.accepts}")


def _kit_tray_of(lab: Lab, job: TransferJob) -> str:
    """Returns the kit tray that is meant: by the drawings, the one of that kind nearest to the robot."""
    base = lab.nominal.bases[job.robot].position
    trays = {t.name: t.pose_in_world.position for t in lab.nominal.trays if t.model == job.kit}
    return min(trays, key=lambda name: float(np.linalg.norm(trays[name] - base)))


def _publish_verdict(lab: Lab, seating: Seating) -> None:
    verdict = Verdict(
        lab.world.clock.time_ns,
        0,
        "judge",
        (seating.slot,),
        (seating.seated,),
        (seating.reason,),
        float(seating.seated),
    )
    lab.bus.publish("/judge/verdict", verdict)
