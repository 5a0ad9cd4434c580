"""What hangs in a hand is weighed by noisy measurements at the wrist, and what is wrong with it has a name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.execution import HandReading, Hold, PickPlace, PickPlacePhase, Recipe, RobotHand
from cellwright.execution.arm import tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.hand_scale import HandScale, Weight

FINGERS, TOOL_KG, SD_N, GRAVITY = "aprs_fanuc_gripper", 0.7, 0.05, 9.81
HERE, THERE = tool_down(np.array([0.3, 0.2, 0.1])), tool_down(np.array([0.3, -0.2, 0.1]))
OTHERS = {"small_gear": 0.006, "medium_gear": 0.020, "large_gear": 0.033, "steel_gear": 0.140}


def pulled(force_n):
    """Returns forces and torques of a wrist that is pulled along its axis."""
    return (0.0, 0.0, force_n, 0.0, 0.0, 0.0)


@dataclass
class Wrist:
    """A robot that stands or moves, with a load that its wrist measures 50 times a second; also its clock and way."""

    seed: int = 1
    load_kg: float = 0.0
    takes_kg: float = 0.020
    at: Pose = HERE
    time_s: float = 0.0
    tool: str = FINGERS
    is_shaken: bool = False
    has_sensor: bool = True
    recipe: Recipe = field(default_factory=Recipe)
    waits_for_tool: bool = False
    width_m: float = 0.020

    def __post_init__(self) -> None:
        self.rng, self.measured = np.random.default_rng(self.seed), (-1, 0.0)

    async def sleep(self, duration_s: float) -> None:
        self.time_s += duration_s

    async def dwell(self, duration_s: float) -> None:
        self.time_s += duration_s

    async def read(self) -> HandReading:
        number = int(self.time_s * 50)
        if number != self.measured[0]:
            shake_n = 2.0 * self.is_shaken
            self.is_shaken = False
            self.measured = number, -(TOOL_KG + self.load_kg) * GRAVITY + shake_n + self.rng.normal(0.0, SD_N)
        felt = (pulled(self.measured[1]), number) if self.has_sensor else (None, 0)
        return HandReading(self.at, self.tool, self.width_m, self.width_m == 0.008, (), *felt)

    async def set_tool(self, setting: float) -> HandReading:
        self.width_m = 0.020 if setting else 0.008
        if setting:
            self.load_kg = 0.0
        return await self.read()

    async def travel(self) -> None:
        self.at, self.is_shaken = (THERE if self.at is HERE else HERE), True
        self.time_s += 1.0

    async def approach(self) -> None:
        pass

    async def reach(self) -> None:
        self.at = Pose(self.at.position - [0.0, 0.0, 0.05], self.at.quaternion)

    async def leave(self, *, laden: bool) -> None:
        self.load_kg = self.takes_kg if laden else 0.0
        self.at, self.is_shaken = HERE, True
        self.time_s += 1.0


async def weighed(wrist: Wrist, hold: Hold, hand: RobotHand | None = None) -> tuple[RobotHand, list[PickPlacePhase]]:
    """Takes something, waits as long as an executor does anyway, and sets it down."""
    phases: list[PickPlacePhase] = []
    hand = hand or RobotHand(wrist, wrist)
    await hand.tare()
    job = PickPlace(hand, lambda phase, _thing: phases.append(phase))
    await job.pick(wrist, hold)
    for _ in range(3):
        await hand.read()
        await wrist.sleep(0.02)
    try:
        await job.place(wrist, hold)
    except StepFailed as failure:
        failure.args = (*failure.args, phases)
        raise
    return hand, phases


def hold(mass_kg: float | None = 0.020) -> Hold:
    return Hold("gear_1", 0.008, 0.0025, "sku_part_medium_gear", mass_kg, OTHERS)


@pytest.mark.parametrize("seed", range(20))
def test_what_weighs_as_it_should_is_carried_on_at_once(seed):
    wrist = Wrist(seed)
    _, phases = asyncio.run(weighed(wrist, hold()))
    assert phases[-1] is PickPlacePhase.RETREAT
    assert wrist.time_s < 6.2  # ten measurements of the empty hand, and half a second more at most


@pytest.mark.parametrize(
    ("takes_kg", "kind", "reason"),
    [
        (0.000, FailureKind.LOST, r"nothing hangs in the hand: -?\d g \+- \d g, gear_1 has 50 g"),
        (0.100, FailureKind.WEIGHT, r"for gear_1 \(50 g\) weighs like two of them: \d+ g"),
        (0.140, FailureKind.WEIGHT, r"for gear_1 \(50 g\) weighs like a steel_gear: \d+ g"),
        (0.290, FailureKind.WEIGHT, r"gear_1 is too heavy: 2(8|9)\d g \+- \d g, it should have 50 g"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_wrong_with_a_weight_has_a_name(takes_kg, kind, reason, seed):
    wrist = Wrist(seed, takes_kg=0.5)
    hand, _ = asyncio.run(weighed(wrist, hold(0.5)))  # something that its weight is felt of for sure
    wrist.takes_kg = takes_kg
    with pytest.raises(StepFailed, match=reason) as failed:
        asyncio.run(weighed(wrist, hold(0.050), hand))
    assert (failed.value.kind, failed.value.part) == (kind, "gear_1")
    phases = failed.value.args[-1]
    assert PickPlacePhase.CARRY not in phases  # it is found out before anything is moved
    assert (phases[-1] is PickPlacePhase.LOST) == (kind is FailureKind.LOST)
    assert (wrist.width_m == 0.020) == (
        kind is FailureKind.LOST
    )  # fingers on nothing are opened, and feel nothing more


@pytest.mark.parametrize("seed", range(10))
def test_a_light_part_instead_of_a_heavier_one_is_not_nothing(seed):
    """Nearer to six grams than to none: the fingers are right, and what they have is carried and looked at."""
    found = Weight(0.007 + 0.0005 * (seed - 5), 0.002)
    assert not found.is_nothing(0.020, OTHERS)
    assert "weighs like a small_gear" in found.reason("gear_1", 0.020, OTHERS)
    assert Weight(0.0003 * (seed - 5), 0.002).is_nothing(0.020, OTHERS)


def test_fingers_are_believed_where_nothing_was_ever_weighed():
    _, phases = asyncio.run(weighed(Wrist(takes_kg=0.0), hold()))
    assert phases[-1] is PickPlacePhase.RETREAT


def test_a_light_part_that_is_not_there_is_for_the_width_to_tell():
    """Six grams are less than the wrist can be sure of."""
    _, phases = asyncio.run(weighed(Wrist(takes_kg=0.0), hold(0.006)))
    assert phases[-1] is PickPlacePhase.RETREAT


def test_a_mass_that_is_found_twice_is_believed_rather_than_the_drawing():
    async def work() -> list[PickPlacePhase]:
        wrist = Wrist(takes_kg=0.090)
        hand = RobotHand(wrist, wrist)
        with pytest.raises(StepFailed, match="too heavy"):
            await weighed(wrist, hold(), hand)
        _, phases = await weighed(wrist, hold(), hand)
        return phases

    assert asyncio.run(work())[-1] is PickPlacePhase.RETREAT


@pytest.mark.parametrize(("mass_kg", "has_sensor"), [(None, True), (0.020, False)])
def test_nothing_is_weighed_without_a_mass_or_a_sensor(mass_kg, has_sensor):
    wrist = Wrist(takes_kg=0.5, has_sensor=has_sensor)
    _, phases = asyncio.run(weighed(wrist, hold(mass_kg)))
    assert phases[-1] is PickPlacePhase.RETREAT


def test_a_wrist_that_does_not_feel_its_own_tool_weighs_nothing():
    """As in a laboratory of kinematic fidelity, where nothing has a weight."""
    scale = HandScale()
    for laden in (False, True):
        scale.begin(laden=laden)
        for number in range(20):
            scale.take(HandReading(HERE, FINGERS, 0.02, laden, (), pulled(0.05 * (-1) ** number), 100 * laden + number))
    assert scale.is_tared
    assert scale.weight is None


def test_measurements_count_once_upright_and_at_rest_and_for_their_own_tool():
    scale = HandScale()
    scale.begin(laden=False)
    down, leaning = HERE, HERE @ Pose.from_xyz_rpy([0, 0, 0], [0.2, 0, 0])
    for number in range(30):
        scale.take(HandReading(down, FINGERS, 0.02, False, (), pulled(-7.0), number // 3))  # asked three times as often
    assert not scale.is_tared  # ten numbers, of which the first two may be of a motion
    for number in range(100, 140):
        scale.take(HandReading(leaning, FINGERS, 0.02, False, (), pulled(-6.0), number))
    assert not scale.is_tared
    for number in range(200, 204):
        scale.take(HandReading(down, FINGERS, 0.02, False, (), pulled(-7.0), number))
    assert scale.is_tared
    scale.take(HandReading(down, "tray_vacuum", 0.0, False, (), pulled(-12.0), 300))
    assert not scale.is_tared
    assert scale.weight is None
