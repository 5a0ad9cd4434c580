"""Trays in a hand of cups: what the judge sees of them, and what can go wrong with them."""

import numpy as np
import pytest

from cellwright.catalogue import TRAYS
from cellwright.cells import load_cell
from cellwright.cells.schema import PopulationCfg, PoseCfg, TrayCfg
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.execution.trays import hold_of
from cellwright.judge import (
    AllowedContact,
    CollisionMonitor,
    DropMonitor,
    FaultScheduler,
    HandMonitor,
    allowed_kitting_contacts,
    judge_kit,
    parse_fault,
)
from cellwright.lab import Lab
from cellwright.motion import LineSpeed
from cellwright.orders import DESIGNS

KIT, GEARS = "kit", {"medium_gear_1", "medium_gear_2", "large_gear_1"}
SLOW, FAST = LineSpeed(0.12), LineSpeed(0.4)
UP_M = 0.06


def cell_with_a_kit():
    """The kitting workstation with the tray tool on its robot, a full kit on the work table, and one stack."""
    cell = load_cell("kitting")
    tools = {"tray_vacuum": cell.tools["tray_vacuum"].model_copy(update={"holder": None, "robot": "motoman"})}
    trays = {name: cell.trays[name] for name in ("m2l1_tray_1", "m2l1_tray_2")}
    trays[KIT] = TrayCfg(model="kit_m2l1_tray", pose=PoseCfg(xyz_m=(0.0, -0.65, 0.89)))
    gears = (
        PopulationCfg(model="medium_gear", count=2, trays=(KIT,)),
        PopulationCfg(model="large_gear", count=1, trays=(KIT,)),
    )
    return cell.model_copy(update={"tools": tools, "trays": trays, "populations": gears})


class TrayStand:
    """A laboratory at a moment: `over` the kit, or with the kit `held` above the table."""

    def __init__(self):
        self.lab = Lab(cell_with_a_kit(), 0)
        self.world, self.arm, self.scheduler = self.lab.world, self.lab.robot("motoman"), None
        self.hand_monitor = HandMonitor(self.world, self.lab.stepper)
        self.drops = DropMonitor(self.world, self.lab.stepper, self.hand_monitor)
        self.monitor = CollisionMonitor(self.world, self.lab.stepper, allowed_kitting_contacts(self.world))
        self.heard = []
        self.hand_monitor.listen(self.heard.append)
        self.moments = {}
        for name, work in (("over", self.come), ("held", self.take)):
            self.lab.perform(work())
            self.moments[name] = self.lab.snapshot(), tuple(self.heard)

    def at(self, moment, *specs):
        if self.scheduler is not None:
            self.scheduler.stop()
        snapshot, heard = self.moments[moment]
        self.lab.restore(snapshot)
        self.heard[:] = heard
        lab, faults = self.lab, [parse_fault(spec) for spec in specs]
        self.scheduler = FaultScheduler(lab.world, lab.stepper, lab.bus, self.hand_monitor, faults, lab.sensors)
        return self.scheduler

    def grip(self, up_m=0.0):
        hold = hold_of(TRAYS.get("kit_m2l1_tray").sku, "tray_vacuum")
        pose = hold.pose_tool(self.world.pose_of(KIT), 0.0, 0.0015)
        return Pose.from_xyz_rpy([0.0, 0.0, up_m]) @ pose

    async def come(self):
        await self.arm.move_tool(self.grip(0.05), 0.6)

    async def take(self):
        await self.arm.move_tool_straight(self.grip(), SLOW)
        await self.arm.vacuum.close()
        await self.shift(0.0, 0.0, UP_M)

    async def shift(self, x_m, y_m, z_m=0.0, speed=FAST):
        await self.arm.move_tool_straight(Pose.from_xyz_rpy([x_m, y_m, z_m]) @ self.arm.tool_in_world, speed)

    def events(self):
        return [(event.moment.value, event.part) for event in self.heard]


@pytest.fixture(scope="module")
def made():
    stand = TrayStand()
    yield stand
    stand.lab.close()


@pytest.fixture
def stand(made):
    yield made
    made.at("over").stop()


def test_a_tray_that_is_taken_carried_and_set_down_is_told_in_that_order_and_touches_nothing_that_it_should_not(stand):
    stand.at("held")
    others = [contact for contact in stand.monitor.allowed_contacts if not contact.covers(KIT, "work_table")]
    gentle, strict = (
        CollisionMonitor(
            stand.world, stand.lab.stepper, [*others, AllowedContact(KIT, "work_table", limit_n=n)], name=f"{n} N"
        )
        for n in (60.0, 0.5)
    )

    async def put_back():
        await stand.shift(0.03, 0.0)
        await stand.shift(0.0, 0.0, 0.0025 - UP_M, SLOW)
        await stand.arm.vacuum.open()
        await stand.shift(0.0, 0.0, 0.15)

    stand.lab.perform(put_back())
    stand.lab.advance(0.2)
    assert stand.events() == [(moment, KIT) for moment in ("approach", "grasp", "transfer", "release")]
    assert set(stand.heard[1].parts_in_tray) == set(stand.heard[-1].parts_in_tray) == GEARS
    assert stand.heard[-1].lifted
    assert stand.hand_monitor.held == {}
    assert stand.monitor.hits == stand.drops.drops == gentle.hits == []
    assert {(hit.first, hit.second) for hit in strict.hits} == {(KIT, "work_table")}, "it was set down harder than that"
    gentle.stop()
    strict.stop()


def test_it_knows_that_the_tray_is_held_and_the_gears_only_ride(stand):
    stand.at("held")
    hold = stand.hand_monitor.held["motoman"]
    assert (hold.part, hold.lifted, hold.carried, set(hold.parts_in_tray)) == (KIT, True, False, GEARS)
    assert not any(stand.hand_monitor.holds(gear) for gear in GEARS)
    assert stand.hand_monitor.distance_m(KIT) < 0.005
    verdict = judge_kit(stand.world, KIT, DESIGNS.get("kit_m2l1"))
    wrong = [item.name for item in verdict.items if not item.passed]
    assert wrong == ["tool clear", "in its box"], "a whole kit, in mid-air"


def test_cups_that_touch_without_vacuum_hold_nothing_and_those_that_touch_the_table_hit_it(stand):
    stand.at("over")
    stand.lab.perform(stand.arm.move_tool_straight(stand.grip(), SLOW))
    stand.lab.advance(0.1)
    assert stand.hand_monitor.held == {}
    assert stand.monitor.hits == []

    async def miss_the_tray():
        await stand.shift(0.0, 0.0, 0.05)
        await stand.shift(0.16, 0.0)
        await stand.shift(0.0, 0.0, -0.067, SLOW)

    stand.lab.perform(miss_the_tray())
    assert "work_table" in {hit.second for hit in stand.monitor.hits}
    assert all(hit.first.startswith("tray_vacuum/") for hit in stand.monitor.hits)


def test_the_pump_that_fails_drops_the_tray_with_its_gears(stand):
    """They stay in it when it falls flat: that is one drop, not four."""
    faults = stand.at("held", "drop:tray=kit,during=transfer:1,way_mm=30")
    stand.lab.perform(stand.shift(0.06, 0.0))
    stand.lab.advance(1.5)
    assert ("loss", KIT) in stand.events()
    (drop,) = stand.drops.drops
    assert (drop.part, drop.opened, drop.landed_on, drop.on_floor) == (KIT, False, ("work_table",), False)
    assert UP_M - 0.01 < drop.height_m < UP_M + 0.01
    assert [event.fault for event in faults.events] == ["drop"]
    assert "slips out of motoman's hand after 3" in faults.events[0].detail
    stand.lab.perform(stand.arm.vacuum.open())
    cups = [cup.suck for cup in stand.world.robots["motoman"].vacuum.cups]
    assert (stand.world.model.actuator_ctrlrange[cups] == [0.0, 1.0]).all(), "the pump is sound again"


def test_a_fault_about_parts_leaves_trays_alone(stand):
    faults = stand.at("held", "drop:during=transfer:1", "drop:at=0,way_mm=0")
    stand.lab.perform(stand.shift(0.04, 0.0))
    assert faults.events == []
    assert stand.hand_monitor.holds(KIT)


@pytest.mark.slow
def test_a_gear_that_is_knocked_out_of_a_tray_in_a_hand_is_a_drop(stand):
    stand.at("held")
    item = stand.world.objects["large_gear_1"]
    stand.world.data.qvel[item.dof : item.dof + 3] = (0.0, -0.9, 1.6)
    stand.lab.advance(1.5)
    assert stand.hand_monitor.holds(KIT)
    assert set(stand.hand_monitor.held["motoman"].parts_in_tray) == GEARS - {"large_gear_1"}
    (drop,) = stand.drops.drops
    assert (drop.part, drop.tray) == ("large_gear_1", KIT)
    assert str(drop).startswith("large_gear_1 fell off kit of motoman at ")


@pytest.mark.slow
def test_gears_that_a_falling_tray_throws_out_are_drops_of_their_own(stand):
    stand.at("held")
    stand.world.data.ctrl[stand.world.robots["motoman"].vacuum.power] = 0.0
    stand.lab.advance(0.05)
    assert ("release", KIT) in stand.events()
    item = stand.world.objects["large_gear_1"]
    stand.world.data.qvel[item.dof : item.dof + 3] = (0.0, -0.9, 1.6)
    stand.lab.advance(2.0)
    dropped = {drop.part: drop.tray for drop in stand.drops.drops}
    assert dropped == {KIT: "", "large_gear_1": KIT}


@pytest.mark.slow
def test_weak_vacuum_does_not_hold_a_kit(stand):
    faults = stand.at("over", "weak_gripper:at=0,factor=0.2")
    stand.lab.perform(stand.take())
    assert "draws with 0.2 of its vacuum for good" in faults.events[0].detail
    assert 0.15 < stand.arm.vacuum.level < 0.25 or stand.arm.vacuum.level == 0.0
    assert not stand.arm.vacuum.holding
    assert not stand.hand_monitor.holds(KIT)


@pytest.mark.slow
def test_a_tray_is_pushed_with_its_gears(stand):
    stand.at("held")

    async def put_back_and_leave():
        await stand.shift(0.0, 0.0, 0.0025 - UP_M, SLOW)
        await stand.arm.vacuum.open()
        await stand.shift(0.0, 0.0, 0.15)

    stand.lab.perform(put_back_and_leave())
    before = {name: stand.world.pose_of(name).position.copy() for name in (KIT, *GEARS)}
    stand.scheduler.add(parse_fault("push:tray=kit,at=0,by_mm=25/-15"))
    stand.lab.advance(1.0)
    for name, start in before.items():
        np.testing.assert_allclose(stand.world.pose_of(name).position - start, [0.025, -0.015, 0.0], atol=0.002)


def test_a_tray_that_is_held_or_below_another_one_cannot_be_taken_away(stand):
    faults = stand.at("held", "remove:tray=kit,at=0", "remove:tray=m2l1_tray_1,at=0", "push:tray=kit,at=0")
    stand.lab.advance(0.2)
    assert faults.events == []
    assert len(faults.pending) == 3


@pytest.mark.slow
def test_touching_gears_with_a_tray_counts_and_touching_boxes_gently_does_not(stand):
    stand.at("held")
    assert not any(contact.covers("tray_vacuum/tool/tool", KIT) for contact in stand.monitor.allowed_contacts)
    assert any(contact.covers("tray_vacuum/tool/cup_2", KIT) for contact in stand.monitor.allowed_contacts)
    gear = "medium_gear_1"
    below = stand.world.pose_of(KIT).position + [0.0, 0.0, -0.048]
    stand.world.place(gear, Pose.from_xyz_rpy(below))
    stand.lab.perform(stand.shift(0.0, 0.0, -0.04, SLOW))
    assert {(hit.first, hit.second) for hit in stand.monitor.hits} == {(KIT, gear)}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("drop:tray=nothing,at=0", "unknown tray 'nothing'"),
        ("remove:tray=kit,part=medium*,at=0", "give part or tray, not both"),
        ("drop:part=large*,robot=fanuc,at=0", "unknown robot 'fanuc'"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused_in_one_line(stand, spec, words):
    stand.at("over")
    with pytest.raises(BadInput, match=words):
        stand.scheduler.add(parse_fault(spec))


@pytest.mark.slow
def test_a_tray_is_moved_while_the_cups_come_for_it(stand):
    faults = stand.at("over", "push:tray=kit,before=grasp:1,by_mm=10/0")

    async def come_again():
        await stand.shift(0.0, 0.0, 0.1)
        await stand.shift(0.0, 0.0, -0.1, SLOW)

    stand.lab.perform(come_again())
    assert [event.subject for event in faults.events] == [KIT]
