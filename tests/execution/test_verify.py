"""What a controller claims follows from what it saw last: never done while anything is open."""

import pytest

from cellwright.execution.outcome import KitReport, OrderStatus, SlotReport
from cellwright.execution.verify import conclusion

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
