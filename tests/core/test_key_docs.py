"""Meanings of keys in JSON schemas."""

from __future__ import annotations

import pytest
from pydantic import Field

from cellwright.core.config import Cfg
from cellwright.lab.cell_schema import cell_file_schema
from cellwright.orders import order_json_schema
from cellwright.trials.cfg import trial_json_schema


class BaseCfg(Cfg):
    """A base.

    Attributes:
        one: The first key: with a colon,
            and a second line.
        two: The second.
    """

    one: int
    two: int = 2


class OwnCfg(BaseCfg):
    """A class of its own,
    in two lines.

    Attributes:
        two: Said again.
    """

    silent: dict[str, int] = Field(default_factory=lambda: {"a": 1})


def test_keys_say_what_the_docstrings_say():
    schema = OwnCfg.model_json_schema()
    assert schema["description"] == "A class of its own, in two lines."
    assert {key: said.get("description") for key, said in schema["properties"].items()} == {
        "one": "The first key: with a colon, and a second line.",
        "two": "Said again.",
        "silent": None,
    }
    assert schema["properties"]["silent"]["default"] == {"a": 1}
    assert "default" not in schema["properties"]["one"]


@pytest.mark.parametrize("schema_of", [cell_file_schema, order_json_schema, trial_json_schema])
def test_every_key_of_a_file_has_a_meaning(schema_of):
    schema = schema_of()
    silent = [
        f"{name}.{key}"
        for name, made in {"file": schema, **schema["$defs"]}.items()
        for key, said in made["properties"].items()
        if not said.get("description", "").endswith((".", ".)"))
    ]
    assert silent == []
