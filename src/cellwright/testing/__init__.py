"""The pytest plugin: a cell as a fixture, expectations about kits, and evidence when they are not met.

Nothing here imports the laboratory: the cell runs in a process of its own. The names are imported when they are used,
because pytest loads the plugin in every test run of an environment that has the package.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.testing.cell import Cell, CellError
    from cellwright.testing.controller_run import ControllerRun
    from cellwright.testing.expectations import Expect, expect

__all__ = ["Cell", "CellError", "ControllerRun", "Expect", "expect"]

__getattr__ = lazy_names(
    __name__,
    dict.fromkeys(("Cell", "CellError"), ".cell")
    | {"ControllerRun": ".controller_run"}
    | dict.fromkeys(("Expect", "expect"), ".expectations"),
)
