"""Cells as text: what is written loads again, and a new name changes nothing else."""

from __future__ import annotations

import pytest
import yaml

from cellwright.cells import CELLS, Cell, cell_yaml, load_cell, renamed_text
from cellwright.core.errors import ConfigError

VARIANTS = [f"{name}@{variant}" for name in CELLS for variant in load_cell(name).variants]


def again(cell: Cell, file) -> Cell:
    """The cell, written and read again, as if it came from the same file."""
    file.write_text(cell_yaml(cell), encoding="utf-8")
    return load_cell(file).read_from(cell.file)


@pytest.mark.parametrize("name", [*CELLS, *VARIANTS])
def test_a_cell_that_is_written_loads_to_an_equal_cell(name, tmp_path):
    cell = load_cell(name)
    assert again(cell, tmp_path / "again.yaml") == cell
    written = yaml.safe_load(cell_yaml(cell))
    assert set(written) == set(Cell.model_fields)  # every key, those with defaults too
    assert "&id" not in cell_yaml(cell)


@pytest.mark.parametrize("name", list(CELLS))
def test_a_new_name_changes_that_line_alone(name):
    text = CELLS.get(name).read_text(encoding="utf-8")
    old, new = text.splitlines(), renamed_text(text, "on", "mine.yaml").splitlines()
    assert [(a, b) for a, b in zip(old, new, strict=True) if a != b] == [(f"name: {name}", "name: 'on'")]


def test_a_name_is_changed_wherever_it_stands():
    text = "{title: T, fixtures: {name: {model: floor, pose: {xyz_m: [0, 0, 0]}}}, 'name': \"a\" }  # the end\n"
    assert renamed_text(text, "b", "x.yaml") == text.replace('"a"', "b")


@pytest.mark.parametrize("text", ["<<: {name: a}\ntitle: T\n", "title: &t a\nname: *t\n"])
def test_a_name_that_is_repeated_is_refused(text):
    with pytest.raises(ConfigError, match=r"x\.yaml: .*(name: stands in a part that is repeated|undefined alias)"):
        renamed_text(text, "b", "x.yaml")
