"""Poses, and the chain of frames from the world to the part in a gripper.

Shows:

- names that say which frame is given in which: `pose_part_in_tray` maps the part's coordinates to the tray's
- `@` to chain poses, `inverse()` to turn one round, `apply()` to map points
- `FramedPose`, which refuses a chain that makes no sense
- `KinematicRing`: base, tool and part as one transform each

The last two come from `cellwright.core`: poses alone carry most programs.
"""

import numpy as np

import cellwright as cw
from cellwright.core import FramedPose, KinematicRing

# A tray on a table, turned by a right angle; a part in it. Metres and radians, z up.
pose_tray_in_world = cw.Pose.from_xyz_rpy([0.40, -1.00, 0.90], [0, 0, np.pi / 2])
pose_part_in_tray = cw.Pose.from_xyz_rpy([0.05, 0.00, 0.02])
pose_part_in_world = pose_tray_in_world @ pose_part_in_tray
print("part in world:", np.round(pose_part_in_world.position, 3).tolist())

# Back again: where is the part, seen from the tray?
back = pose_tray_in_world.inverse() @ pose_part_in_world
print("and back in the tray:", back.is_close(pose_part_in_tray))

# A point on top of the part, 16 mm above its origin.
print("top of the part:", np.round(pose_part_in_world.apply([0, 0, 0.016]), 3).tolist())

# Frames by name: a wrong chain is an error and not a wrong number.
tray = FramedPose("tray", "world", pose_tray_in_world)
part = FramedPose("part", "tray", pose_part_in_tray)
print(f"{(tray @ part).child} in {(tray @ part).parent}")
try:
    part @ tray
except cw.CellwrightError as error:
    print("refused:", error)

# Which flange pose, in the robot's base, brings the tool to the part? Tool pointing at the floor.
ring = KinematicRing(cw.Pose.from_xyz_rpy([0.0, -1.1, 0.9]), pose_tool_in_flange=cw.Pose.from_xyz_rpy([0, 0, 0.18]))
pose_tool_in_world = cw.Pose.from_xyz_rpy(pose_part_in_world.position, [np.pi, 0, 0])
pose_flange_in_base = ring.flange_for_tool(pose_tool_in_world)
print("flange in base:", np.round(pose_flange_in_base.position, 3).tolist())

# The part goes along with the tool that holds it; a base that is moved is one transform, and the rest follows.
held = ring.holding(pose_tool_in_world.inverse() @ pose_part_in_world)
print("held part in world:", np.round(held.part_in_world(pose_flange_in_base).position, 3).tolist())
moved = held.with_base(cw.Pose.from_xyz_rpy([0.1, -1.1, 0.9]))
print("flange in moved base:", np.round(moved.flange_for_part(pose_part_in_world).position, 3).tolist())
