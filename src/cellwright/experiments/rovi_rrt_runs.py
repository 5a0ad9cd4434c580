"""One pick and place of the ROVI bottle in physics: the controller's work, and its evaluation by the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution import PlannedPickPlace, Recipe, RobotHand, StandingPart
from cellwright.experiments.rovi_rrt_scene import (
    BOTTLE,
    PICKS,
    PLACE,
    ROBOT,
    TABLE,
    cell_with_bottle_at,
    home_rad,
    pick_place_planner,
)
from cellwright.judge import AllowedContact, CollisionMonitor
from cellwright.lab import DirectArm, Lab
from cellwright.perception import look, nearest_track
from cellwright.sim import TickOrder

__all__ = ["RoviRun", "RoviRunJob", "allowed_contacts", "execute"]

Array = npt.NDArray[np.float64]

DETECTOR = "detector_pick"
SETTLE_S, GRIP_N = 0.2, 40.0
REST_S = 1.0
WATCH_TICKS, WAY_EVERY = 10, 5
FOOT_M = 0.055  # the bottle's foot, and room for it to be off its place
PLACE_LIMIT_M, TILT_LIMIT_DEG, HEIGHT_LIMIT_M = 0.005, 1.0, 0.001
MOVED_LIMIT_M = 0.0005


@dataclass(frozen=True)
class RoviRunJob:
    """One run to make: the location, and the seed of the cell's errors, the detector's noise and the paths."""

    pick: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class RoviRun:
    """The outcome of one run, by the truth unless said otherwise.

    Attributes:
        success: The bottle stands at its place, and nothing was touched that must not be.
        reason: Why not.
        place_error_m: Of its axis, in the plane.
        place_tilt_deg: Of the bottle that was set down.
        detection_error_m: Of the pose that the controller received, in the plane.
        slip_m: The motion of the bottle in the hand while it was lifted, carried and lowered.
        carry_tilt_deg: The most that it leant while it was carried.
        turn_deg: The direction of the grasp about the bottle's axis, by the plan.
        duration_s: Of the job, in simulated time.
        hits: Contacts that must not be.
        hardest_n: The largest force among them.
        moved_m: The farthest that can, mug or crate were pushed.
        way_m: The tool's path, ten points a second.
    """

    pick: str
    seed: int
    success: bool
    reason: str
    place_error_m: float
    place_tilt_deg: float
    detection_error_m: float
    slip_m: float
    carry_tilt_deg: float
    turn_deg: float
    duration_s: float
    hits: int
    hardest_n: float
    moved_m: float
    way_m: tuple[tuple[float, float, float], ...] = ()


def allowed_contacts(pick: str) -> list[AllowedContact]:
    """Returns the allowed contacts: pads and bottle, bottle and table where it is taken and where it is set down."""
    x, y, _ = (float(value) for value in PICKS[pick].position)
    there_x, there_y, _ = (float(value) for value in PLACE.position)
    return [
        AllowedContact(f"{ROBOT}/tool/pad_*", BOTTLE),
        AllowedContact(BOTTLE, TABLE, (x, y), FOOT_M),
        AllowedContact(BOTTLE, TABLE, (there_x, there_y), FOOT_M),
    ]


def execute(job: RoviRunJob) -> RoviRun:
    """Builds the cell by its seed, runs the controller, judges."""
    with Lab(cell_with_bottle_at(job.pick), job.seed) as lab:
        return _Attempt(lab, job).run()


class _Attempt:
    """One run: the controller's side knows the detections and the robot; everything else here is the judge's."""

    def __init__(self, lab: Lab, job: RoviRunJob) -> None:
        self.lab = lab
        self.job = job
        self.world = lab.world
        self.monitor = CollisionMonitor(lab.world, lab.stepper, allowed_contacts(job.pick))
        self.others = [name for name in lab.world.objects if name != BOTTLE]
        self.stood = {name: lab.world.pose_of(name) for name in lab.world.objects}
        self.seen: Pose | None = None
        self.track: list[tuple[float, Pose, Pose]] = []
        lab.stepper.every(WATCH_TICKS, self._watch, order=TickOrder.JUDGE, name="bottle")
        arm = DirectArm(lab.robot(ROBOT), lab.clock, Recipe(settle_s=SETTLE_S), force_n=GRIP_N)
        hand = RobotHand(arm, lab.clock)
        self.work = PlannedPickPlace(hand, arm, self._look, pick_place_planner(), PLACE, home_rad(), seed=job.seed)

    def run(self) -> RoviRun:
        """Runs the controller and judges."""
        failure = self.lab.perform(self._work())
        problems = [failure, *self._failures()]
        hits = self.monitor.hits
        end = self.world.pose_of(BOTTLE)
        stood, seen = self.stood[BOTTLE], self.seen
        return RoviRun(
            pick=self.job.pick,
            seed=self.job.seed,
            success=not any(problems),
            reason="; ".join(filter(None, problems)),
            place_error_m=_apart_m(end, PLACE),
            place_tilt_deg=_tilt_deg(end),
            detection_error_m=float("nan") if seen is None else _apart_m(seen, stood),
            slip_m=self._slip_m(),
            carry_tilt_deg=max((_tilt_deg(bottle) for _, bottle, _ in self._during("carry")), default=float("nan")),
            turn_deg=float(np.degrees(self.work.plan.grasp.turn_rad)) if self.work.plan else float("nan"),
            duration_s=self.work.steps[-1].end_s - self.work.steps[0].start_s,
            hits=len(hits),
            hardest_n=max((hit.force_n for hit in hits), default=0.0),
            moved_m=self._moved_m(),
            way_m=tuple(
                (float(x), float(y), float(z)) for x, y, z in (row[2].position for row in self.track[::WAY_EVERY])
            ),
        )

    async def _work(self) -> str:
        failure = ""
        try:
            await self.work.run()
        except JobFailed as error:
            failure = str(error)
        await self.lab.clock.sleep(REST_S)  # what was let go, or fell, comes to rest before it is judged
        return failure

    async def _look(self) -> StandingPart:
        """Returns how the bottle stands, by a few frames of the detector; that it is upright on the table is known."""
        tracks = await look(self.lab.bus, self.lab.clock, DETECTOR)
        found = nearest_track(tracks, PARTS.get(BOTTLE).sku, PICKS[self.job.pick].position)
        if found is None:
            raise JobFailed("no bottle is in view")
        x, y, _ = found.position
        self.seen = Pose.from_xyz_rpy((x, y, PICKS[self.job.pick].position[2]))
        return StandingPart(self.seen)

    def _watch(self) -> None:
        self.track.append((self.world.clock.time_s, self.world.pose_of(BOTTLE), self.world.tcp_pose(ROBOT)))

    def _during(self, *names: str) -> list[tuple[float, Pose, Pose]]:
        steps = [step for step in self.work.steps if step.name in names]
        return [row for step in steps for row in self.track if step.start_s <= row[0] <= step.end_s]

    def _slip_m(self) -> float:
        """Measures how far the grasped point moved in the hand at most, from closed fingers to opening ones."""
        points = [
            (tool.inverse() @ bottle).apply([0.0, 0.0, PARTS.get(BOTTLE).grasp_height_m])
            for _, bottle, tool in self._during("lift", "carry", "lower")
        ]
        return max((float(np.linalg.norm(point - points[0])) for point in points), default=float("nan"))

    def _moved_m(self) -> float:
        return max(self.world.pose_of(name).distance_m(self.stood[name]) for name in self.others)

    def _failures(self) -> list[str]:
        """Returns the failures by the truth."""
        end = self.world.pose_of(BOTTLE)
        item = self.world.object(BOTTLE)
        height_m = abs(float(end.position[2] - PLACE.position[2]))
        speed = float(np.abs(self.world.data.qvel[item.dof : item.dof + 3]).max())
        found = [str(hit) for hit in self.monitor.hits]
        if _apart_m(end, PLACE) > PLACE_LIMIT_M:
            found.append(f"the bottle stands {1e3 * _apart_m(end, PLACE):.1f} mm from its place")
        if _tilt_deg(end) > TILT_LIMIT_DEG or height_m > HEIGHT_LIMIT_M or speed > 0.01:
            found.append(f"the bottle does not stand: {_tilt_deg(end):.1f} deg, {1e3 * height_m:.1f} mm too high")
        if self._moved_m() > MOVED_LIMIT_M:
            found.append(f"an obstacle was pushed by {1e3 * self._moved_m():.1f} mm")
        return found


def _apart_m(one: Pose, other: Pose) -> float:
    return float(np.hypot(*(one.position - other.position)[:2]))


def _tilt_deg(pose: Pose) -> float:
    return float(np.degrees(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1.0, 1.0))))
