"""Drops: what left a hand and fell."""

GEAR = "medium_gear_1"


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
