"""Cellwright: a virtual robotics laboratory."""

from cellwright._opengl import shield_mujoco_import

shield_mujoco_import()  # before anything imports MuJoCo

__version__ = "0.1.0"
