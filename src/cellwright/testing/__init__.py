"""The pytest plugin: a cell as a fixture, expectations about kits, and evidence when they are not met.

Nothing here imports the laboratory: the cell runs in a process of its own. The names are imported when they are used,
because pytest loads the plugin in every test run of an environment that has the package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.testing.cell import Cell, CellError
    from cellwright.testing.controller_run import ControllerRun
    from cellwright.testing.expectations import Expect, expect

__all__ = ["Cell", "CellError", "ControllerRun", "Expect", "expect"]

_HOMES = {
    "Cell": "cell", "CellError": "cell", "ControllerRun": "controller_run", "Expect": "expectations",
    "expect": "expectations",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"cellwright.testing.{_HOMES[name]}"), name)
    return value
