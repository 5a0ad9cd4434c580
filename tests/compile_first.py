"""Compiles what numba compiles, once and to disk, before workers and subprocesses would all do it at the same time.

`python tests/compile_first.py planner` or `... laws`: halves of about the same length, for two processes. The second
one compiles the renderer, too.
"""

import sys

import numpy as np


def planner() -> None:
    """A plan around a wall needs every kernel."""
    from cellwright.catalogue import ROBOTS, TOOLS
    from cellwright.core.pose import Pose
    from cellwright.motion.planning import Box, MotionPlanner, MotionPlanRequest, Obstacle, Scene, SceneRobot

    wall = Obstacle("wall", Box((0.6, 0.04, 0.5)), Pose.from_xyz_rpy([0.5, 0.0, 0.25]))
    motions = MotionPlanner(Scene(SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50")), (wall,)))
    poses = [Pose.from_xyz_rpy([0.45, y, 0.15], [np.pi, 0.0, 0.0]) for y in (0.3, -0.3)]
    home = np.array(ROBOTS.get("ur5").home_rad)
    start, goal = (motions.kinematics.nearest(motions.ring.flange_for_tool(pose), home) for pose in poses)
    motions.plan(MotionPlanRequest(start, [goal]))


def laws() -> None:
    """Control laws, inverse kinematics of an arm with six joints and of one with seven, and a picture."""
    from cellwright.bench.motion_kinematics import measure
    from cellwright.control.compiled import compiled_tick

    for law in ("computed_torque", "cartesian"):
        compiled_tick(law)
    measure(repeats=1, seed=0, say=lambda line: None)
    picture()


def picture() -> None:
    """A picture with glass, shadow and depth needs every function of the renderer."""
    import mujoco

    from cellwright.rendering import DEPTH, RGB, SoftRenderer, View, add_environment

    spec = mujoco.MjSpec()
    add_environment(spec)
    for place, alpha in (([0, 0, 0.5], 1.0), ([0, 0, 0.9], 0.5)):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], pos=place, rgba=[1, 1, 1, alpha])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    SoftRenderer().shoot(model, data, View().resolve(model, data), (64, 48), layers=(RGB, DEPTH))


if __name__ == "__main__":
    {"planner": planner, "laws": laws, "picture": picture}[sys.argv[1]]()
