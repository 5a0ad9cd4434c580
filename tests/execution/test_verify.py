"""What a controller claims follows from what it saw last: never done while anything is open."""

import inspect

import numpy as np
import pytest

from cellwright.catalogue.seating import SEATED, SEEN_SEATED
from cellwright.cells import load_cell
from cellwright.core.messages import Tracks
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.execution.outcome import KitReport, OrderStatus, SlotReport
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.verify import SeenSeat, conclusion, kit_reports, unseen_parts
from cellwright.knowledge import Belief, Database, WorldModel, fill
from cellwright.orders import DESIGNS

FULL = SlotReport(slot="slot_1", wanted="gear", sku="gear", part="gear_1", filled=True)
EMPTY = SlotReport(slot="slot_2", wanted="gear", reason="empty")


def kit(*slots, name="kit_1", extras=(), elsewhere=""):
    return KitReport(name, "design", tuple(slots), tuple(extras), "", elsewhere)


def test_an_order_is_done_when_every_slot_was_seen_filled_and_the_hands_are_empty():
    assert conclusion([kit(FULL), kit(FULL, name="kit_2")], 2, [], "") == (
        OrderStatus.DONE,
        "2 parts seen seated in 2 kits",
    )


@pytest.mark.parametrize(
    ("kits", "wanted", "hands", "status", "told"),
    [
        ([kit(FULL, EMPTY)], 1, "", OrderStatus.PARTIAL, "kit_1/slot_2: empty"),
        ([kit(EMPTY)], 1, "", OrderStatus.FAILED, "kit_1/slot_2: empty"),
        ([kit(FULL)], 2, "", OrderStatus.PARTIAL, "the time is over"),
        ([], 1, "", OrderStatus.FAILED, "the time is over"),
        ([kit(FULL)], 1, "fanuc holds gear_2", OrderStatus.PARTIAL, "fanuc holds gear_2"),
        ([kit(FULL, extras=["gear_3"])], 1, "", OrderStatus.PARTIAL, "gear_3 lies on kit_1"),
        ([kit(FULL, elsewhere="is not seen in kit_box")], 1, "", OrderStatus.PARTIAL, "kit_1 is not seen in kit_box"),
    ],
)
def test_anything_open_keeps_an_order_from_being_done(kits, wanted, hands, status, told):
    found, reason = conclusion(kits, wanted, ["the time is over"], hands)
    assert found is status
    assert told in reason


KIT, DESIGN = "fanuc_kit_m2l1", DESIGNS.get("kit_m2l1")
IN_SLOTS = ("medium_gear_1", "medium_gear_2", "large_gear_1")
SPREAD = np.array([3e-4, 3e-4, 3e-4, 0.01, 0.01, 0.01]) ** 2


@pytest.fixture
def belief():
    """Begins with the drawings, in which all gears lie in parts trays."""
    database = Database("sqlite://")
    fill(database, workstation_of(load_cell("aprs")), designs_for([]))
    yield Belief(WorldModel(database))
    database.close()


def see(belief, time_s, aside_m=0.0, unseen_s=None, on_tray=()):
    """Sees gears in the slots of the kit, or a little beside; some were seen some time ago, some lie between slots."""
    state, names = belief.state, (*IN_SLOTS, *on_tray)
    places = {name: slot.position for name, slot in zip(IN_SLOTS, state.slots_of_kit(KIT, DESIGN), strict=True)}
    places |= {name: state.pose(KIT).apply([0.0, 0.018, 0.0175]) for name in on_tray}
    message = Tracks(
        round(time_s * 1e9), 0, "detector_fanuc",
        identities=tuple(names), skus=tuple(state.sku(name) for name in names),
        positions=np.array([places[name] + [aside_m, 0.0, 0.0] for name in names]),
        quaternions=np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)), variances=np.tile(SPREAD, (len(names), 1)),
        ages_s=np.array([(unseen_s or {}).get(name, 0.0) for name in names]), slots=("",) * len(names),
    )  # fmt: skip
    belief.take(message)


def verified(belief, since_s, now_s, felt=None):
    given = {"belief": belief, "wanted": {KIT: DESIGN}, "since_s": since_s, "now_s": now_s, "felt": felt}
    given["settings"] = ExecutionSettings()
    kits = kit_reports(**{name: given[name] for name in inspect.signature(kit_reports).parameters})
    return conclusion(kits, 1, [], ""), {slot.slot: slot.reason for slot in kits[0].slots if not slot.filled}


def test_a_slot_counts_as_filled_only_by_what_was_seen_since_the_last_placement(belief):
    assert set(verified(belief, 0.0, 0.0)[1]) == {"slot_1", "slot_2", "slot_3"}
    see(belief, 1.0)
    (status, _), wrong = verified(belief, 0.5, 1.1)
    assert (status, wrong) == (OrderStatus.DONE, {})
    see(belief, 3.0, unseen_s={"large_gear_1": 2.0})
    (status, _), wrong = verified(belief, 2.0, 3.1)
    assert status is OrderStatus.PARTIAL
    assert "large_gear_1 was not seen since 2.0 s" in wrong["slot_3"]


def test_a_gear_that_is_seen_beside_its_place_does_not_fill_it(belief):
    see(belief, 1.0, aside_m=0.006)
    (status, _), wrong = verified(belief, 0.5, 1.1)
    assert status is not OrderStatus.DONE
    assert "6.0 mm beside its place" in wrong["slot_1"]


def test_a_gear_that_is_seen_in_its_place_and_felt_not_to_be_does_not_fill_it(belief):
    see(belief, 1.0)
    (status, _), wrong = verified(belief, 0.5, 1.1, {"large_gear_1": "stands 11 mm too high"})
    assert (status, wrong) == (OrderStatus.PARTIAL, {"slot_3": "large_gear_1 stands 11 mm too high"})


def test_a_gear_that_is_seen_on_the_tray_keeps_a_full_kit_from_being_done(belief):
    see(belief, 1.0, on_tray=["small_gear_1"])
    (status, reason), wrong = verified(belief, 0.5, 1.1)
    assert (status, wrong) == (OrderStatus.PARTIAL, {})
    assert reason == f"small_gear_1 lies on {KIT}"


def test_where_a_slot_does_not_centre_a_part_it_must_be_seen_as_near_as_the_judge_wants_it():
    for across_m in (0.0011, 0.0009):
        assert SeenSeat(across_m, 0.0, 0.0, sd_m=0.0003).reason(SEEN_SEATED) == ""
        assert "beside its place" in SeenSeat(across_m, 0.0, 0.0, 0.0003, is_centred=False).reason(SEEN_SEATED)
    assert SeenSeat(SEATED.beside_m - 0.0004, 0.0, 0.0, 0.0003, is_centred=False).reason(SEEN_SEATED) == ""


def test_parts_that_nobody_has_seen_are_named(still):
    cell = still()
    believed = cell.belief.state
    sku = believed.sku("large_gear_1")
    for part in ("large_gear_1", "large_gear_2", "medium_gear_1"):
        cell.belief.note_placed(part, believed.pose(part), 1.0, "fanuc")
    cell.belief.note_missing(["large_gear_1", "medium_gear_1"])
    assert unseen_parts(believed, [sku]) == "not seen: large_gear_1, large_gear_3, large_gear_4"
    assert not unseen_parts(believed, [])
