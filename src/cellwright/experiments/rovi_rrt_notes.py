"""Notes on the figures of the ROVI planning experiment, for its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.experiments.rovi_rrt_plans import FIXED_DEG, HEADINGS_DEG, ITERATIONS, STAR_ITERATIONS, GraspHeading
from cellwright.experiments.rovi_rrt_runs import PLACE_LIMIT_M, TILT_LIMIT_DEG
from cellwright.perception.look import FRAMES

__all__ = ["notes"]


def notes(metrics: Mapping[str, float], headings: Sequence[GraspHeading], runs: int) -> list[str]:
    """Returns the paragraphs of the page."""
    fixed = {row.pick: row for row in headings if row.heading_deg == FIXED_DEG}
    free = ", ".join(f"{metrics[f'headings.{pick}_free']:.0f}" for pick in fixed)
    return [
        "A UR5 with a WSG 50 takes the bottle from the side at one of three locations (x = 0.15, 0.40 and 0.65 m, "
        "y = 1.05 m) and sets it down at (0.70, 0.11) m, past a crate, a can and a mug that stand where the project's "
        f"log has them. Each location is planned and executed {runs} times.",
        f"`fixed`: the project's own task, from home into its one grasp, the tool along +y. "
        f"{_blocked(fixed)} The project, too, could only plan for its first location, and presumed that the crate was "
        f"the reason. Of {len(HEADINGS_DEG)} headings about the bottle's axis {free} are free at the three locations "
        "(`headings.csv` says what is in the way of the others), so the bottle, which is round, can be taken at each.",
        "`rrt`, `rrtconnect`, `rrtstar`: the goal is any posture 0.1 m before the bottle from which a straight way "
        "leads to it and up with it, on any side; paths keep 10 mm from obstacles. `rrtconnect` is our compiled "
        "RRT-Connect; `ompl_rrtconnect`, `rrt` and `rrtstar` are OMPL's, with our collision checker. "
        f"The budget is {ITERATIONS} iterations, as in the project; RRT*, which always spends it, has "
        f"{STAR_ITERATIONS}. `direct` goes from home into the grasp in one go, as the project did: there the hand must "
        "be threaded over the bottle, which a tree that grows from the start alone does not always find.",
        "Times are processor time of one plan after a first one: search, shortening, and the check of every state by "
        "the exact checker. The project's times are all about 5,050 ms whatever the planner, its limit of 5 s, and "
        "so say nothing about planners; its path length belongs to its fixed grasp. With the joint limits of its robot "
        "model, half a turn to either side, the last joint of a level tool stands at the very end of its range; ours "
        "turns farther, as a UR5 does.",
        "`constrained`: carrying with the bottle attached and upright within 5 degrees everywhere on the way, to any "
        "heading at its place; `unconstrained`: the same without the limit, in which it may be turned upside down. "
        "The project did not try, and expected constraints to cost time.",
        "`executed`: the whole job in contact physics, held by friction alone. What the controller knows: the "
        f"drawings, and the mean of {FRAMES} frames of the cell's detector, whose noise of 1.1 mm per axis and "
        "frame (1.5 mm in the plane) is the spread of the project's dense stereo (median 1.4 to 1.7 mm), and whose "
        "camera stands 0.5 mm (standard deviation, per axis) from where it should, which no mean takes away. Base, "
        "tool and joint zeros of the robot are off by what the cell's file says, anew in every run. "
        "All paths are planned before the robot moves; timed at half of the joints' speed and acceleration, 15 % of "
        "the acceleration with the bottle in hand.",
        f"A run succeeds when, by the true state, the bottle stands within {1e3 * PLACE_LIMIT_M:g} mm of its place and "
        f"{TILT_LIMIT_DEG:g} degree of upright, no obstacle was moved, and a monitor that looks at every contact after "
        "every physics step saw nothing touch but the pads the bottle, and the bottle the table where it is taken and "
        "set down. The project executed nothing of this in its evaluation, because its simulated grasps were unstable.",
        "Slip is the way of the bottle in the hand while it is carried.",
    ]


def _blocked(fixed: Mapping[str, GraspHeading]) -> str:
    words = []
    for pick, row in fixed.items():
        what = f"{row.free} of {row.postures} postures are free" if row.free else f"none is free: {row.touches}"
        words.append(f"At {pick} {what}.")
    return " ".join(words)
