"""The JSON schema of cell files, with the keys of every sensor, which the cell's own model leaves to their classes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from cellwright.cells import cell_json_schema
from cellwright.core.errors import BadInput
from cellwright.sensors import SENSORS, SensorCfg

__all__ = ["cell_file_schema"]


def cell_file_schema() -> dict[str, Any]:
    """Returns the format of cell files for editors; a sensor of a plugin, whose keys are not known, may have any."""
    schema = cell_json_schema()
    schema["$defs"]["SensorCfg"] = SensorCfg.model_json_schema()
    kinds: list[dict[str, Any]] = []
    for name in SENSORS:
        with suppress(BadInput):  # of a package that is broken
            cfg = SENSORS.get(name).Cfg
            made = cfg.model_json_schema(ref_template="#/$defs/{model}")
            schema["$defs"] |= made.pop("$defs", {})
            made["properties"]["type"] |= {"const": name}
            schema["$defs"][cfg.__name__] = made
            kinds.append({"$ref": f"#/$defs/{cfg.__name__}"})
    of_a_plugin = {"type": "object", "required": ["type"], "properties": {"type": {"not": {"enum": SENSORS.names()}}}}
    schema["properties"]["sensors"]["items"] = {"anyOf": [*kinds, of_a_plugin]}
    return schema
