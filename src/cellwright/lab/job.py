"""The first job: one gear from its parts tray into a slot of a kit tray, judged by the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cellwright.catalogue import TRAYS, SlotFigures, TrayFigures, TrayKind
from cellwright.core.bus import Role
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.messages import ActionEvent, Detections, Verdict
from cellwright.execution import Scene, Step, Transfer
from cellwright.judge import Seating, judge_slot
from cellwright.lab.lab import Lab

__all__ = ["JobReport", "TransferJob", "run_transfer"]

LOOK_FRAMES = 5
REST_S = 0.5


@dataclass(frozen=True)
class TransferJob:
    """What to do: which robot fills which slot of which kind of kit tray, looking through which detector."""

    robot: str = "fanuc"
    kit: str = "kit_m2l1_tray"
    slot: str = "slot_1"

    @property
    def detector(self) -> str:
        """The detector over the robot's table."""
        return f"/detector_{self.robot}/detections"


@dataclass(frozen=True)
class JobReport:
    """What happened.

    Attributes:
        done: Whether the gear is seated, by the true state.
        reason: Why not, or how well.
        steps: What the controller did, with times.
        seating: The judge's verdict on the slot.
        time_s: Simulation time at the end.
        grasp_lock_uses: How often the grasp lock was used; 0 means friction alone.
    """

    done: bool
    reason: str
    steps: tuple[Step, ...]
    seating: Seating
    time_s: float
    grasp_lock_uses: int
    extras: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data = asdict(self)
        return {**data, **data.pop("extras")}


def run_transfer(lab: Lab, job: TransferJob) -> JobReport:
    """Does the job in a laboratory and judges it."""
    kit, slot, supply = _figures(job)
    arm = lab.robot(job.robot)
    if job.detector not in lab.bus.topics:
        raise UnknownName("detector", job.detector, [t for t in lab.bus.topics if t.endswith("/detections")])
    tray = _kit_tray_of(lab, job)
    sequence = 0

    def tell(step: Step, phase: str) -> None:
        nonlocal sequence
        event = ActionEvent(
            lab.world.clock.time_ns, sequence, "execution", job.robot, step.name, phase, step.detail, (), (), ()
        )
        lab.bus.publish("/execution/actions", event)
        sequence += 1

    async def look() -> Scene:
        return Scene(await _fresh_frames(lab, job.detector))

    transfer = Transfer(arm, lab.clock, look, supply, kit, slot, tell)

    async def work() -> str:
        try:
            await transfer.run()
        except JobFailed as error:
            return str(error)
        finally:
            await lab.clock.sleep(REST_S)
        return ""

    failure = lab.perform(work())
    seating = judge_slot(lab.world, f"{tray}/{job.slot}")
    _publish_verdict(lab, seating)
    uses = lab.grasp_lock.uses if lab.grasp_lock else 0
    reason = seating.reason if not failure else f"{failure} (slot: {seating.reason})"
    done = seating.seated and not failure
    return JobReport(done, reason, tuple(transfer.steps), seating, lab.clock.time_s, uses)


async def _fresh_frames(lab: Lab, topic: str) -> list[Detections]:
    """The next few frames that were taken from now on; older ones may still be under way."""
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
        await enough
    finally:
        lab.bus.unsubscribe(subscription)
    return frames


def _figures(job: TransferJob) -> tuple[TrayFigures, SlotFigures, TrayFigures]:
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
    """The kit tray that the judge looks at: the one of that kind nearest to the robot."""
    base = lab.nominal.bases[job.robot].position
    trays = {t.name: t.pose_in_world.position for t in lab.nominal.trays if t.model == job.kit}
    if not trays:
        raise BadInput(f"{lab.cell.where}: the cell has no {job.kit}")
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
