"""Drops: what left a hand and fell."""

import pytest

from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.judge import DropMonitor, HandEvent, HandEventKind, HandMonitor
from cellwright.judge.drops import LIMIT_S
from cellwright.lab import Lab

GEAR = "medium_gear_1"
RELEASE, LOSS, GRASP = HandEventKind.RELEASE, HandEventKind.LOSS, HandEventKind.GRASP


def test_a_gear_that_slips_onto_a_table_is_a_drop(stand):
    stand.at("held", "drop:during=transfer:1,way_mm=60")
    held = stand.position().copy()
    stand.lab.perform(stand.shift(0.0, 0.14))
    stand.lab.advance(2.0)
    (drop,) = stand.drops.drops
    assert (drop.part, drop.robot, drop.opened, drop.slot, drop.on_floor) == (GEAR, "fanuc", False, "", False)
    assert drop.from_m[1] > held[1] + 0.06
    assert drop.landed_on == ("shared_table",)
    assert 0.02 < drop.height_m < 0.12
    assert abs(drop.end_m[2] - stand.position()[2]) < 0.002
    assert str(drop).startswith(f"{GEAR} slipped from fanuc at ")
    assert str(drop).endswith("mm onto shared_table")


def test_a_gear_that_is_set_into_its_slot_is_not_dropped(stand):
    stand.at("held")

    async def set_down():
        await stand.shift(0, 0, -0.048)
        await stand.arm.gripper.open()
        await stand.shift(0, 0, 0.05)

    stand.lab.perform(set_down())
    stand.lab.advance(0.5)
    assert stand.moments() == [("release", GEAR)]
    assert stand.drops.drops == []


def test_a_hand_that_opens_high_up_drops_too(stand):
    stand.at("held")
    stand.lab.perform(stand.arm.gripper.open())
    stand.lab.advance(1.5)
    (drop,) = stand.drops.drops
    assert drop.opened
    assert drop.slot == "fanuc_medium_tray/slot_1", "it falls back where it came from, and the slot centres it"
    assert drop.height_m > 0.04
    assert "was let go by fanuc" in str(drop)


def test_a_snapshot_takes_drops_along(stand):
    stand.at("held")
    before = stand.lab.snapshot()
    stand.lab.perform(stand.arm.gripper.open())
    falling = stand.lab.snapshot()
    stand.lab.advance(1.5)
    found = list(stand.drops.drops)
    stand.lab.restore(falling)
    stand.lab.advance(1.5)
    assert stand.drops.drops == found != []
    stand.lab.restore(before)
    assert stand.drops.drops == []


@pytest.fixture(scope="module")
def made():
    """A table with a kit on it, the floor, no robot: hands are told of."""
    cell = {
        "name": "mine",
        "title": "A bench",
        "settle_s": 0.0,
        "fixtures": {
            "floor": {"model": "floor", "pose": {"xyz_m": [0.0, 0.0, 0.0]}},
            "bench": {"model": "work_table", "pose": {"xyz_m": [0.0, 0.0, 0.0]}},
        },
        "trays": {"kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.0, 0.0, 0.89]}}},
        "parts": {
            "gear": {"model": "medium_gear", "slot": "kit/slot_1"},
            "small": {"model": "small_gear", "pose": {"xyz_m": [0.0, 0.17, 0.89]}},
        },
    }
    with Lab(Cell.model_validate(cell), 0) as lab:
        hands = HandMonitor(lab.world, lab.stepper)
        yield lab, hands, DropMonitor(lab.world, lab.stepper, hands), lab.snapshot()


class Bench:
    """The bench, and what a hand does there."""

    def __init__(self, lab, hands, monitor, start):
        self.lab, self.world, self.hands, self.monitor = lab, lab.world, hands, monitor
        lab.restore(start)

    def tell(self, moment, part, *, lifted=True, parts_in_tray=()):
        here = tuple(self.world.pose_of(part).position.tolist())
        event = HandEvent(
            moment=moment, robot="arm", part=part, time_s=self.lab.clock.time_s, position_m=here, lifted=lifted,
            parts_in_tray=parts_in_tray,
        )  # fmt: skip
        for listener in self.hands._listeners:
            listener(event)

    def let_fall(self, part, xyz_m, moment=LOSS, *, lifted=True, for_s=0.8):
        """Lets a part go somewhere; returns what was dropped."""
        self.world.place(part, Pose.from_xyz_rpy(xyz_m))
        self.tell(moment, part, lifted=lifted)
        self.lab.advance(for_s)
        return list(self.monitor.drops)


@pytest.fixture
def bench(made):
    return Bench(*made)


@pytest.mark.parametrize(
    ("up_m", "moment", "lifted", "dropped"),
    [
        (0.05, RELEASE, True, True),
        (0.05, RELEASE, False, False),  # what was never lifted cannot be dropped
        (0.05, LOSS, False, False),
        (0.005, RELEASE, True, False),  # set down
        (0.005, LOSS, True, True),  # lost, though not far
    ],
)
def test_who_opens_a_hand_low_sets_down_and_who_loses_a_part_drops_it(bench, up_m, moment, lifted, dropped):
    found = bench.let_fall("small", (0.0, 0.17, 0.89 + up_m), moment, lifted=lifted)
    assert [(drop.landed_on, drop.opened) for drop in found] == [(("bench",), moment is RELEASE)] * dropped


def test_what_is_lost_just_above_its_slot_and_ends_in_it_is_not_dropped_and_of_another_kind_it_is(bench):
    seat = bench.world.pose_of("gear").position
    assert bench.let_fall("gear", seat + [0.0, 0.0, 0.004]) == []
    bench.world.place("gear", Pose.from_xyz_rpy([0.15, 0.15, 0.89]))
    (drop,) = bench.let_fall("small", seat + [0.0, 0.0, 0.05])
    assert drop.slot == "", "it is in the slot, but not seated"
    assert drop.landed_on == ("kit",)


def test_on_the_floor_is_told(bench):
    (drop,) = bench.let_fall("small", (0.8, 0.8, 0.1))
    assert (drop.on_floor, drop.landed_on) == (True, ("floor",))


def test_what_never_comes_to_rest_is_a_drop_after_a_while(bench):
    (drop,) = bench.let_fall("small", (5.0, 5.0, 80.0), for_s=LIMIT_S + 0.1)
    assert 30 < drop.height_m < 50
    assert str(drop).endswith("mm onto nothing")


def test_a_part_that_is_caught_has_fallen_so_far_and_one_that_is_put_elsewhere_is_forgotten(bench):
    assert bench.let_fall("small", (0.0, 0.17, 1.2), for_s=0.12) == []
    bench.tell(GRASP, "small")
    assert [round(drop.height_m, 2) for drop in bench.monitor.drops] == [0.07]
    bench.monitor.drops.clear()
    bench.let_fall("small", (0.0, 0.17, 1.2), for_s=0.1)
    bench.world.place("small", Pose.from_xyz_rpy([0.0, 0.17, 0.89]))
    bench.lab.advance(0.5)
    assert bench.monitor.drops == []


@pytest.mark.parametrize("thrown", [False, True])
def test_a_tray_falls_with_its_parts_and_one_that_is_thrown_out_is_a_drop_of_its_own(bench, thrown):
    world, up = bench.world, Pose.from_xyz_rpy([0.0, 0.0, 0.04])
    for name in ("kit", "gear"):
        world.place(name, up @ world.pose_of(name))
    bench.tell(RELEASE, "kit", parts_in_tray=("gear",))
    if thrown:
        dof = world.objects["gear"].dof
        world.data.qvel[dof : dof + 3] = (-0.9, 0.0, 1.2)
    bench.lab.advance(1.2)
    drops = {drop.part: drop for drop in bench.monitor.drops}
    assert set(drops) == ({"kit", "gear"} if thrown else {"kit"})
    assert drops["kit"].landed_on == ("bench",), "and not on what lies in it"
    if thrown:
        assert drops["gear"].tray == "kit"
        assert str(drops["gear"]).startswith("gear fell off kit of arm at ")


def test_fingers_that_still_touch_it_are_not_what_it_fell_on(stand):
    stand.at("held")
    here = tuple(stand.position().tolist())
    event = HandEvent(moment=LOSS, robot="fanuc", part=GEAR, time_s=0.0, position_m=here, lifted=True)
    stand.drops._hear(event)
    stand.lab.advance(0.3)
    assert [drop.landed_on for drop in stand.drops.drops] == [()]
