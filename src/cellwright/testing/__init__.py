"""The pytest plugin: a cell as a fixture, expectations about kits, and evidence when they are not met.

Nothing here imports the laboratory: the cell runs in a process of its own. The names are imported when they are used,
because pytest loads the plugin in every test run of an environment that has the package.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.testing.cell import CellError, CellUnderTest
    from cellwright.testing.expectations import Expect, expect
    from cellwright.trials.controller_run import ControllerRun

__all__ = ["CellError", "CellUnderTest", "ControllerRun", "Expect", "expect"]

__getattr__ = lazy_names(
    __name__,
    {
        ".cell": "CellError CellUnderTest",
        "..trials.controller_run": "ControllerRun",
        ".expectations": "Expect expect",
    },
)
