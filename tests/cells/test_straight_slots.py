"""Straight slots and clamped trays in cell files: what they become, and what is refused."""

import pytest
import yaml

from cellwright.catalogue import TRAYS, part_of_sku
from cellwright.catalogue.plug_trays import clearance_m
from cellwright.cells import Cell, cell_yaml, load_cell, nominal_layout
from cellwright.core.errors import BadInput


def cell_of(timestep_s=0.002, model="kit_m2l1_plug_tray", **slots):
    tray = {"model": model, "pose": {"xyz_m": [0.0, 0.0, 0.0]}, "slots": slots or None}
    return Cell.model_validate({"name": "one", "title": "", "timestep_s": timestep_s, "trays": {"kit": tray}})


@pytest.mark.parametrize(("wanted_m", "step_s"), [(0.001, 0.002), (0.0005, 0.002), (0.0002, 0.001), (0.00037, 0.0005)])
def test_a_tray_has_slots_of_the_clearance_that_its_cell_says(wanted_m, step_s):
    placed = nominal_layout(cell_of(step_s, clearance_m=wanted_m, chamfer_m=0.0007), 0).trays[0]
    tray = TRAYS.get(placed.model)
    assert tray.sku == TRAYS.get("kit_m2l1_plug_tray").sku
    for slot in tray.slots:
        assert clearance_m(slot, part_of_sku(slot.accepts)) == pytest.approx(wanted_m, abs=1e-9)
        assert slot.chamfer_m == 0.0007


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"clearance_m": -0.0001}, "no part fits"),
        ({"clearance_m": 0.0}, "no part fits"),
        ({"clearance_m": 0.0001}, "less than contacts can represent"),
        ({"clearance_m": 0.0003}, "takes steps of 0.001 s or less"),
        ({"clearance_m": 0.1}, "cut into each other"),
        ({"clearance_m": 0.0005, "chamfer_m": -0.001}, "greater than or equal to 0"),
        ({"clearance_m": 0.0005, "depth_m": 1}, "depth_m"),
        ({"clearance_m": 0.0005, "model": "kit_m2l1_tray"}, "no straight slot"),
    ],
)
def test_slots_that_cannot_be_are_refused_with_a_reason(said, reason, tmp_path):
    data = yaml.safe_load(cell_yaml(cell_of(clearance_m=0.0005)))
    tray = data["trays"]["kit"]
    tray["model"] = said.pop("model", tray["model"])
    tray["slots"] = said
    file = tmp_path / "cell.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(BadInput, match=r"trays\.kit\.slots") as refused:
        nominal_layout(load_cell(file), 0)
    assert reason in str(refused.value)


def test_a_cell_with_clearances_reads_its_own_text(tmp_path):
    cell = load_cell("aprs@tight")
    file = tmp_path / "tight.yaml"
    file.write_text(cell_yaml(cell))
    again = load_cell(file)
    assert again.trays == cell.trays
    assert [placed.is_clamped for placed in nominal_layout(again, 0).trays] == [False, False, True] * 2
