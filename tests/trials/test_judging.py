"""Which tray an order is about, where trays lie in stacks; and what a name means to those who ask for a verdict."""

import numpy as np
import pytest

from cellwright.catalogue import seated_height_m
from cellwright.cells import load_cell
from cellwright.core.config import validate
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.judge import HeldObject
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.sim import World
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.judging import assign_trays, find_kits, find_part
from cellwright.trials.orders import OrderBook
from cellwright.trials.trial import Trial

TABLE, AWAY = Pose.from_xyz_rpy([0.0, -0.65, 0.89]), Pose.from_xyz_rpy([1.5, 1.5, 0.001])
TRAY, OTHER = "fanuc_kit_m2l1", "motoman_kit_m2l1"
RIGHT = {"slot_1": "medium_gear_1", "slot_2": "medium_gear_2", "slot_3": "large_gear_1"}


@pytest.fixture
def world():
    return World(load_cell("kitting").model_copy(update={"settle_s": 0.0}), 0)


def anywhere(*_, **__):
    return True


def wanted(world, quantity=1, reaches=anywhere):
    book = OrderBook.of_run([find_order("kit_m2l1", quantity)], world.cell)
    return [verdict.tray for verdict in assign_trays(book, world, reaches, ["motoman"]).values()]


def test_the_uppermost_of_a_stack_unless_one_was_taken_out(world):
    assert wanted(world) == ["m2l1_tray_2"]
    assert wanted(world, 2) == ["m2l1_tray_2", "m2l1_tray_1"]
    upper = world.pose_of("m2l1_tray_2")
    world.place("m2l1_tray_2", Pose(upper.position + [0.0, 0.0, 0.002], upper.quaternion))
    assert wanted(world) == ["m2l1_tray_2"], "also when it does not touch the one below"
    world.place("m2l1_tray_2", TABLE)
    assert wanted(world) == ["m2l1_tray_2"]
    assert [tray for tray in wanted(world, 4) if tray not in world.objects] == ["kit_m2l1_1", "kit_m2l1_2"]
    world.add("kit_m2l1_1", "small_gear", AWAY)
    assert [tray for tray in wanted(world, 4) if tray not in world.objects] == ["kit_m2l1_2", "kit_m2l1_3"]


def test_the_one_that_is_nearest_to_being_the_kit(world):
    world.place("m2l1_tray_1", TABLE @ Pose.from_xyz_rpy([0.0, 0.2, 0.0]))
    world.place("m2l1_tray_2", TABLE)
    fill(world, "m2l1_tray_2", {"slot_1": "medium_gear_1"})
    assert wanted(world) == ["m2l1_tray_2"]


def test_one_within_reach_unless_another_is_done(world):
    def on_the_work_table(_robot, point, *_):
        return abs(point[0]) < 0.2

    for first, second in (("m2l1_tray_1", "m2l1_tray_2"), ("m2l1_tray_2", "m2l1_tray_1")):
        world.place(second, AWAY)
        world.place(first, TABLE)
        assert wanted(world, reaches=on_the_work_table) == [first]
    world.place("m2l1_tray_1", Pose.from_xyz_rpy([0.65, -0.522, 0.894], [0, 0, np.pi / 2]))
    fill(world, "m2l1_tray_1")
    assert wanted(world, reaches=on_the_work_table) == ["m2l1_tray_1"]


@pytest.fixture
def trial():
    with Lab(load_cell("aprs").model_copy(update={"fidelity": "kinematic"}), seed=1) as lab:
        orders = [{"order": "kit_m2l1"}, {"order": "kit_s2l2", "tray": "motoman_kit_s2l2", "name": "second"}]
        cfg = validate({"trial": "asked", "time_limit_s": 60, "orders": orders}, TrialCfg, "trial.yaml")
        yield Trial(lab, cfg, OrderBook.of(cfg.orders, lab.cell))


def fill(world, tray, parts=RIGHT):
    figures = world.objects[tray].figures
    for slot in figures.slots:
        if slot.name in parts:
            part = parts[slot.name]
            height_m = seated_height_m(figures, slot, world.objects[part].figures)
            world.place(part, world.pose_of(tray) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))


def test_a_name_is_an_order_a_tray_or_a_design(trial):
    fill(trial.lab.world, OTHER)
    ((mine,), (named,)) = find_kits(trial, "kit_m2l1"), find_kits(trial, "second")
    assert (mine.tray, mine.done) == (OTHER, True), "the tray that is the kit, whoever built it"
    assert (named.tray, named.done) == ("motoman_kit_s2l2", False)
    assert [kit.design for kit in find_kits(trial, TRAY)] == ["kit_m2l1"], "the design that fits a tray without order"
    assert [kit.tray for kit in find_kits(trial, OTHER)] == [OTHER]
    assert [kit.design for kit in find_kits(trial, "motoman_kit_s2l2")] == ["kit_s2l2"], "what is ordered on it"
    fill(trial.lab.world, "fanuc_kit_s2l2", {"slot_3": "large_gear_2"})
    assert [kit.tray for kit in find_kits(trial, "kit_s2l2")] == ["fanuc_kit_s2l2"], "the one that is nearest to it"
    with pytest.raises(UnknownName, match="unknown kit 'kit_m2l2'; did you mean 'kit_s2l2'"):
        find_kits(trial, "kit_m2l2")
    trial.lab.world.remove("motoman_kit_s2l2")
    (gone,) = find_kits(trial, "second")
    assert (gone.tray, gone.reason) == ("motoman_kit_s2l2", "the tray is not there")


def test_of_two_orders_for_one_kit_the_one_that_was_submitted_has_it(trial):
    lab, fields = trial.lab, {"order": "kit_m2l1"}
    cfg = validate({"trial": "two", "time_limit_s": 9, "orders": [fields, fields | {"name": "b"}]}, TrialCfg, "t.yaml")
    book = OrderBook.of(cfg.orders, lab.cell)
    fill(trial.lab.world, OTHER)

    def done():
        verdicts = assign_trays(book, lab.world, trial.reach, trial.robots)
        return {kit.order: verdict.done for kit, verdict in verdicts.items()}

    assert done() == {"kit_m2l1": True, "b": False}
    book.orders["b"].announced_s = 0.0
    assert done() == {"kit_m2l1": False, "b": True}, "the one that is known"
    book.orders["kit_m2l1"].announced_s = 0.0
    assert done() == {"kit_m2l1": True, "b": False}, "both are known, and this one comes first"
    book.orders["b"].submitted_s = 1.0
    assert done() == {"kit_m2l1": False, "b": True}


def test_a_part_is_in_its_slot_or_it_is_told_what_is_there_and_where_it_is(trial):
    world, known = trial.lab.world, [*trial.lab.world.objects]
    fill(trial.lab.world, TRAY)

    def told(pattern, slot=f"{TRAY}/slot_3"):
        return find_part(trial, pattern, slot, known)

    assert told("large_gear_1")[0]
    assert told("large_gear_1")[1].startswith("large_gear_1: 0.00 mm off centre")
    assert told("sku_part_large_gear")[0]
    assert told("large_gear_2") == (False, "large_gear_1 is there instead")
    world.place("large_gear_1", world.pose_of("large_gear_1") @ Pose.from_xyz_rpy([0.0, 0.0, 0.01]))
    assert told("large_gear_1") == (False, "large_gear_1: 10.0 mm above its seat (limit 1 mm)")
    world.place("large_gear_1", AWAY)
    assert told("large_gear_1") == (False, "the slot is empty; large_gear_1 is at 1.500 1.500 0.001 m")
    assert told("large_gear_?") == (False, "the slot is empty; 4 such parts are elsewhere")
    hands, here_m = trial.judge.hands.save(), world.pose_of("large_gear_1").position
    hands["fanuc"].hold = HeldObject("large_gear_1", here_m, here_m)
    trial.judge.hands.load(hands)
    assert told("large_gear_1") == (False, "the slot is empty; fanuc holds large_gear_1")
    world.remove("large_gear_1")
    assert told("large_gear_1") == (False, "large_gear_1 has been taken out of the cell")
    for pattern, slot, words in (
        ("large_gaer_1", f"{TRAY}/slot_3", "unknown part 'large_gaer_1'"),
        ("large_gear_2", "fanuc_kit/slot_3", "unknown tray 'fanuc_kit'"),
        ("large_gear_2", f"{TRAY}/slot_9", "unknown slot"),
    ):
        with pytest.raises(UnknownName, match=words):
            told(pattern, slot)
