"""Cellwright: a virtual robotics laboratory.

`import cellwright as cw` gives the names that carry a user from a cell to a verdict; each package has more. They are
imported when they are used: `import cellwright` alone takes no time and needs no physics engine.

>>> import cellwright as cw
>>> with cw.Lab.from_cell("aprs", seed=7) as lab:
...     report = lab.run(order="kit_m2l1")
>>> report.done
True
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names
from cellwright._opengl import shield_mujoco_import

if TYPE_CHECKING:
    from cellwright import crcl
    from cellwright.cells import Cell, load_cell
    from cellwright.checks import check_cell
    from cellwright.core import messages
    from cellwright.core.errors import CellwrightError
    from cellwright.core.pose import Pose
    from cellwright.crcl import BlockingCrclClient
    from cellwright.interfaces import BlockingVisionClient
    from cellwright.lab import Lab, plan_order
    from cellwright.orders import KitDesign, Order
    from cellwright.planning import TASK_PLANNERS
    from cellwright.record import read_log
    from cellwright.sensors import SENSORS, NoiseCfg, Sensor, SensorCfg, check_sensor
    from cellwright.testing import expect
    from cellwright.trials import TRIAL_CONTROLLERS, Report, TrialCfg, read_trial, run_trial

__all__ = [
    "SENSORS",
    "TASK_PLANNERS",
    "TRIAL_CONTROLLERS",
    "BlockingCrclClient",
    "BlockingVisionClient",
    "Cell",
    "CellwrightError",
    "KitDesign",
    "Lab",
    "NoiseCfg",
    "Order",
    "Pose",
    "Report",
    "Sensor",
    "SensorCfg",
    "TrialCfg",
    "__version__",
    "check_cell",
    "check_sensor",
    "crcl",
    "expect",
    "load_cell",
    "messages",
    "plan_order",
    "read_log",
    "read_trial",
    "run_trial",
]

__version__ = "0.1.0"

shield_mujoco_import()  # before anything imports MuJoCo

__getattr__ = lazy_names(
    __name__,
    {
        ".cells": "Cell load_cell",
        ".checks": "check_cell",
        ".core.errors": "CellwrightError",
        ".core.pose": "Pose",
        ".crcl": "BlockingCrclClient",
        ".interfaces": "BlockingVisionClient",
        ".lab": "Lab plan_order",
        ".orders": "KitDesign Order",
        ".planning": "TASK_PLANNERS",
        ".record": "read_log",
        ".sensors": "SENSORS NoiseCfg Sensor SensorCfg check_sensor",
        ".testing": "expect",
        ".trials": "TRIAL_CONTROLLERS Report TrialCfg read_trial run_trial",
    },
    {"crcl": ".crcl", "messages": ".core.messages"},
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
