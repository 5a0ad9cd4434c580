"""Collision-free motion in joint space: a believed scene, two checkers, planners behind one interface.

```python
robot = SceneRobot(ROBOTS.get("ur5"), tool=TOOLS.get("wsg_50"))
scene = Scene(robot, (Obstacle("crate", Box((0.3, 0.4, 0.2)), pose),))
result = MotionPlanner(scene).plan(MotionPlanRequest(start_rad=home, goal_poses=[pose_tool_in_world]))
```

Needs the optional packages of `cellwright[motion]`; they are imported when a planner is made.
"""

from cellwright.motion.planning.checker import CollisionChecker, CollisionPair
from cellwright.motion.planning.compiled import CompiledChecker
from cellwright.motion.planning.exact import ExactChecker
from cellwright.motion.planning.goals import GoalSet, goals_from_poses, grasps_about
from cellwright.motion.planning.planner import MotionPlanner
from cellwright.motion.planning.request import (
    JointBounds,
    MotionPlanRequest,
    MotionPlanResult,
    MotionPlanStatus,
    TiltLimit,
)
from cellwright.motion.planning.scene import (
    AttachedObject,
    Box,
    CatalogueModel,
    ConvexMesh,
    Cylinder,
    InSomePoses,
    Obstacle,
    Scene,
    SceneRobot,
)
from cellwright.motion.planning.search import MOTION_PLANNERS, RawPath, SearchProblem

__all__ = [
    "MOTION_PLANNERS",
    "AttachedObject",
    "Box",
    "CatalogueModel",
    "CollisionChecker",
    "CollisionPair",
    "CompiledChecker",
    "ConvexMesh",
    "Cylinder",
    "ExactChecker",
    "GoalSet",
    "InSomePoses",
    "JointBounds",
    "MotionPlanRequest",
    "MotionPlanResult",
    "MotionPlanStatus",
    "MotionPlanner",
    "Obstacle",
    "RawPath",
    "Scene",
    "SceneRobot",
    "SearchProblem",
    "TiltLimit",
    "goals_from_poses",
    "grasps_about",
]
