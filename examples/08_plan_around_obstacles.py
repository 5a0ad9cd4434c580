"""Collision-free pick and place: planned in a believed scene, executed in physics, judged by what really touched.

Shows:

- a scene of beliefs: the robot, and obstacles of the catalogue where the drawings have them
- `PickPlacePlanner`: on which side a bottle can be taken, and all motions to its place, before anything moves
- `PlannedPickPlace`, which gives them to a robot and checks that its hand holds the bottle
- `CollisionMonitor`, the judge's eye on every contact after every physics step

Collision-free motions are planned in a scene that you make yourself, from the catalogue's figures: that is more than
`import cellwright` carries, and comes from the packages `catalogue`, `motion.planning`, `execution`, `judge` and `lab`.
Needs `pip install 'cellwright[motion]'`.
"""

import cellwright as cw
from cellwright.catalogue import FURNITURE, PARTS, TOOLS
from cellwright.execution import PickPlacePlanner, PlannedPickPlace, Recipe, RobotHand, StandingPart
from cellwright.judge import AllowedContact, CollisionMonitor
from cellwright.lab import DirectArm
from cellwright.motion.planning import CatalogueModel, Obstacle, Scene, SceneRobot

PLACE = cw.Pose.from_xyz_rpy([0.70, 0.11, 0.75])

with cw.Lab.from_cell("rovi") as lab:
    drawn = lab.nominal
    arm = DirectArm(lab.robot("ur5"), lab.clock, Recipe(settle_s=0.2), force_n=40.0)
    fixtures = [
        Obstacle(n, CatalogueModel(FURNITURE.get(lab.cell.fixtures[n].model)), p) for n, p in drawn.fixtures.items()
    ]
    parts = [
        Obstacle(p.name, CatalogueModel(PARTS.get(p.model)), p.pose_in_world) for p in drawn.parts if p.name != "bottle"
    ]
    robot = SceneRobot(arm.robot.kinematics.arm, drawn.bases["ur5"], TOOLS.get("wsg_50"))
    planner = PickPlacePlanner(Scene(robot, (*fixtures, *parts)), PARTS.get("bottle"), support="table")

    async def look():
        """Returns where the drawings have the bottle; a camera would do better."""
        return StandingPart(drawn.objects["bottle"].pose_in_world)

    allowed = [
        AllowedContact("ur5/tool/pad_*", "bottle"),
        AllowedContact("bottle", "table", near_m=(0.40, 1.05), radius_m=0.055),
        AllowedContact("bottle", "table", near_m=(0.70, 0.11), radius_m=0.055),
    ]
    monitor = CollisionMonitor(lab.world, lab.stepper, allowed)
    job = PlannedPickPlace(RobotHand(arm, lab.clock), arm, look, planner, PLACE, arm.robot.joints_rad)
    lab.perform(job.run())
    for step in job.steps:
        print(f"{step.name}: {step.end_s - step.start_s:.1f} s")
    error_mm = 1000 * lab.world.pose_of("bottle").distance_m(PLACE)
    print(f"the bottle stands {error_mm:.1f} mm from its place; {len(monitor.hits)} collisions")
