"""Cellwright: a virtual robotics laboratory.

The names below are imported when they are used: `import cellwright` alone takes no time and needs no physics engine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cellwright._opengl import shield_mujoco_import

if TYPE_CHECKING:
    from cellwright.core.pose import Pose
    from cellwright.lab import KittingReport, Lab
    from cellwright.testing import expect

__all__ = ["KittingReport", "Lab", "Pose", "__version__", "expect"]

__version__ = "0.1.0"

shield_mujoco_import()  # before anything imports MuJoCo

_HOMES = {"Pose": "cellwright.core.pose", "expect": "cellwright.testing"} | dict.fromkeys(
    ("KittingReport", "Lab"), "cellwright.lab"
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cellwright' has no attribute '{name}' (it has: {', '.join(__all__)})")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
