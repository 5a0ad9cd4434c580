"""Keeps MuJoCo importable whatever MUJOCO_GL says.

MuJoCo reads the variable when it is imported and raises where it names nothing, or a library that is not installed.
Cellwright chooses its way to OpenGL itself and can do without, so such a value must not stop a simulation.
"""

from __future__ import annotations

import os
from ctypes.util import find_library

LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
HARMLESS = {"", "disable", "disabled", "off", "false", "0", "enable", "enabled", "on", "true", "1", "glfw", "glx"}


def shield_mujoco_import() -> None:
    """Switches MuJoCo's own OpenGL off where importing it would fail; to be called before that."""
    wish = os.environ.get("MUJOCO_GL", "").lower().strip()
    if wish in HARMLESS or (wish in LIBRARIES and find_library(LIBRARIES[wish])):
        return
    os.environ["MUJOCO_GL"] = "disable"
