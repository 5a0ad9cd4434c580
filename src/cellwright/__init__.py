"""Cellwright: a virtual robotics laboratory.

The names below are imported when they are used: `import cellwright` alone takes no time and needs no physics engine.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names
from cellwright._opengl import shield_mujoco_import

if TYPE_CHECKING:
    from cellwright.core.pose import Pose
    from cellwright.lab import Lab
    from cellwright.testing import expect
    from cellwright.trials import KittingReport

__all__ = ["KittingReport", "Lab", "Pose", "__version__", "expect"]

__version__ = "0.1.0"

shield_mujoco_import()  # before anything imports MuJoCo

__getattr__ = lazy_names(
    __name__,
    {
        ".core.pose": "Pose",
        ".lab": "Lab",
        ".testing": "expect",
        ".trials": "KittingReport",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
