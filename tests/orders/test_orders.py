from pathlib import Path

import pytest

from cellwright.core.errors import BadInput
from cellwright.orders import DESIGNS, KitDesign, Order, OrderLine, find_order

PARTS_IN = {
    "a2b1c1": 4,
    "a2b2c1": 5,
    "a4b3c3": 10,
    "a4b4c2": 10,
    "a2b3c5": 10,
    "a4b3c2d1": 10,
    "a2b3c3d1e1": 10,
    "s2b2": 4,
    "kit_s2l2": 4,
    "kit_m2l1": 3,
}


@pytest.mark.parametrize(("name", "count"), PARTS_IN.items())
def test_the_library_has_the_orders_of_the_papers(name, count):
    order = find_order(name, quantity=3, priority=2)
    assert (order.kit_count, order.priority) == (3, 2)
    assert len(order.lines[0].design.slots) == count


def test_a_gear_kit_has_the_slots_of_its_tray():
    design = DESIGNS.get("kit_m2l1")
    assert design.tray_sku == "sku_kit_m2l1_vessel"
    assert dict(design.parts) == {"sku_part_medium_gear": 2, "sku_part_large_gear": 1}
    assert [slot.name for slot in design.slots] == ["slot_1", "slot_2", "slot_3"]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "order.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_with_a_design_of_its_own(tmp_path):
    text = """
order: rush
priority: 5
designs:
  single: {tray: sku_kit_m2l1_vessel, parts: {sku_part_large_gear: 1}}
kits: {single: 4, kit_m2l1: 1}
"""
    order = find_order(write(tmp_path, text))
    assert (order.name, order.priority, order.kit_count) == ("rush", 5, 5)
    assert [slot.name for slot in order.lines[0].design.slots] == ["slot_3"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("order: x\nkits: {kit_m2l: 1}", "did you mean 'kit_m2l1'"),
        ("order: x\nkits: {kit_m2l1: 0}", "kits.kit_m2l1"),
        ("order: x\nkits: {}", "kits"),
        ("order: x\nkit: {kit_m2l1: 1}", "unknown key 'kit'"),
        ("order: x\npriority: -1\nkits: {kit_m2l1: 1}", "priority"),
        (
            "order: x\ndesigns: {k: {tray: sku_kit_m2l1_vessel, parts: {sku_part_big_gear: 1}}}\nkits: {k: 1}",
            "available: ",
        ),
        ("order: x\ndesigns: {k: {tray: sku_kit_m2l2, parts: {sku_part_a: 1}}}\nkits: {k: 1}", "sku_kit_m2l1_vessel"),
        (
            "order: x\ndesigns: {k: {tray: sku_kit_m2l1_vessel, parts: {sku_part_medium_gear: 3}}}\nkits: {k: 1}",
            "which takes 1 of sku_part_large_gear, 2 of sku_part_medium_gear",
        ),
        (
            "order: x\ndesigns: {kit_m2l1: {tray: sku_kit_m2l1_vessel, parts: {sku_part_large_gear: 1}}}\n"
            "kits: {kit_m2l1: 1}",
            "contradicts the known kit",
        ),
        ("order: x\ndesigns: {k: {tray: sku_kit_tray, parts: {sku_part_a: 11}}}\nkits: {k: 1}", "has 10 slots"),
    ],
)
def test_a_bad_file_gives_one_line_that_says_what_is_allowed(tmp_path, text, wanted):
    with pytest.raises(BadInput) as caught:
        find_order(write(tmp_path, text))
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "order.yaml" in str(caught.value)


def test_a_misspelt_name_lists_the_orders():
    with pytest.raises(BadInput, match=r"did you mean 'a2b1c1'.*kit_m2l1"):
        find_order("a2b1c")


def test_a_missing_file_lists_the_orders():
    with pytest.raises(BadInput, match=r"nothing\.yaml does not exist .*a2b1c1"):
        find_order("nothing.yaml")


def test_an_order_names_a_design_once_and_wants_something():
    design = DESIGNS.get("a2b1c1")
    with pytest.raises(BadInput, match="twice"):
        Order("x", (OrderLine(design, 1), OrderLine(design, 2)))
    with pytest.raises(BadInput, match="no kit"):
        Order("x", ())
    with pytest.raises(BadInput, match="1 or more"):
        find_order("a2b1c1", quantity=0)
    with pytest.raises(BadInput, match="no parts"):
        KitDesign.of("x", "sku_kit_tray", {})
