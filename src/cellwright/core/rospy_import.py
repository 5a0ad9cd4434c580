"""The way to rospy: Debian has it in a folder that no virtual environment looks into."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput

__all__ = ["ROSPY_PACKAGES", "ROSPY_PLACE", "import_rospy"]

ROSPY_PLACE = Path("/usr/lib/python3/dist-packages")
ROSPY_PACKAGES = "ros-core"


def import_rospy() -> Any:
    """Returns rospy: that of a ROS that was sourced, else Debian's.

    Raises:
        BadInput: There is none, or it is broken.
    """
    if ROSPY_PLACE.is_dir() and str(ROSPY_PLACE) not in sys.path:
        sys.path.append(str(ROSPY_PLACE))  # last: what is installed here goes first
    try:
        return import_module("rospy")
    except ImportError as error:
        raise BadInput(
            f"rospy cannot be imported ({error}); on Debian and Ubuntu: apt install {ROSPY_PACKAGES}"
        ) from None
