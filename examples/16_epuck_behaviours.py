"""Programs for robots on wheels: avoid obstacles, follow a wall, follow the leader by range and by transforms.

Shows:

- `cellwright.mobile`: control programs that know readings alone; `BusRobot` runs one on a simulated robot, and
  `mobile/drive.py` runs the same over rosbridge or as a node of ROS 1, on a simulated or a real one
- `graph_of` of `cellwright.interfaces`: the frames that ROS programs get, for the transform between two robots
- what each of them came to, by the truth, which none of them sees
"""

from math import degrees, hypot

import cellwright as cw
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.mobile import AvoidObstacles, BusRobot, FollowByRange, FollowByTransform, FollowWall


def distance(lab):
    one, other = (lab.world.pose_of(name).position for name in ("ePuck0", "ePuck1"))
    return hypot(*(one - other)[:2])


class Circle:
    """The leader's program: an arc of 2 cm/s, to the left."""

    def update(self, robot):  # noqa: D102
        return 0.02, 0.1


def follow(program, spacing_m):
    row = {"count": 2, "arrange": {"shape": "grid", "spacing_m": spacing_m, "columns": 2}}
    with cw.Lab(cw.load_cell("epucks").changed({"mobiles": {"ePuck": row}}), seed=1) as lab:
        frames, others = graph_of(lab).frames, list(lab.mobiles)  # ePuck0 stands behind ePuck1
        BusRobot(lab.bus, "ePuck1", Circle(), lab.mobile("ePuck1").move)
        robot = BusRobot(lab.bus, "ePuck0", program, lab.mobile("ePuck0").move, frames=frames, others=others)
        before_m = distance(lab)
        lab.advance(20.0)
        sees = any(robot.readings.sees(number) for number in range(8))
        sight = "sees it" if sees else "does not see it"
        print(
            f"{type(program).__name__}: {1000 * before_m:.0f} mm before, {1000 * distance(lab):.0f} mm after; {sight}"
        )
        return robot.readings.frames.pose("ePuck1/base_prox0", "ePuck0/base_link")


for program in (AvoidObstacles(), FollowWall(0.02)):
    with cw.Lab.from_cell("epucks@maze", seed=1) as lab:
        BusRobot(lab.bus, "ePuck0", program, lab.mobile("ePuck0").move)
        way_m, last = 0.0, lab.world.pose_of("ePuck0").position
        for _ in range(150):
            lab.advance(0.2)
            here = lab.world.pose_of("ePuck0").position
            way_m, last = way_m + hypot(*(here - last)[:2]), here
        print(f"{type(program).__name__}: {way_m:.2f} m in 30 s")

follow(FollowByRange(gap_m=0.015), spacing_m=0.09)
pose = follow(FollowByTransform(leader="ePuck1", gap_m=0.15), spacing_m=0.25)
print(f"ePuck1/base_prox0 in ePuck0/base_link: {pose.position.round(3)}, {degrees(pose.rpy[2]):.0f} degrees")
