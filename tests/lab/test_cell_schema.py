"""The published schema of cell files, down to the keys of sensors."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.cells import CELLS, load_cell
from cellwright.lab.cell_schema import cell_file_schema


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return cell_file_schema()


def fits(line: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Returns whether a sensor's line has a kind that the schema knows, the keys that it must have, and no others."""
    *known, plugin = schema["properties"]["sensors"]["items"]["anyOf"]
    kinds = [schema["$defs"][kind["$ref"].rpartition("/")[2]] for kind in known]
    if line["type"] not in plugin["properties"]["type"]["not"]["enum"]:
        return True  # any keys
    kind = next(kind for kind in kinds if kind["properties"]["type"]["const"] == line["type"])
    assert kind["additionalProperties"] is False
    return set(kind["required"]) <= set(line) <= set(kind["properties"])


@pytest.mark.parametrize("name", CELLS.names())
def test_the_sensors_of_a_shipped_cell_fit(schema, name):
    assert all(fits(line, schema) for line in load_cell(name).sensors)


@pytest.mark.parametrize(
    ("line", "is_right"),
    [
        ({"type": "laser_range", "robot": "fanuc", "rate_hz": 50, "max_range_m": 1}, True),
        ({"type": "laser_range", "robot": "fanuc", "rate_hz": 50, "max_m": 1}, False),
        ({"type": "laser_range", "rate_hz": 50}, False),
        ({"type": "of_a_plugin", "anything": 1}, True),
    ],
)
def test_a_key_that_a_sensor_does_not_have_does_not_fit(schema, line, is_right):
    assert fits(line, schema) is is_right


def test_every_reference_leads_somewhere(schema):
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if "$ref" in part else []
            return own + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    assert {name.rpartition("/")[2] for name in references(schema)} <= set(schema["$defs"])
