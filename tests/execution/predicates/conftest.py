"""A cell as plain data, for predicates: what is where, and what the robot says."""

from dataclasses import dataclass, field, replace
from math import inf, pi

import pytest

from cellwright.core.pose import Pose
from cellwright.execution.predicates import Evaluator
from cellwright.knowledge import Evidence, PoseEstimate, ToolState, Unknown

SD_M = 0.0003
VARIANCES = (SD_M**2, SD_M**2, SD_M**2, 1e-5, 1e-5, 1e-5)
GEAR, TRAY, KIT = "sku_part_medium_gear", "sku_medium_gear_vessel", "sku_kit_m2l1_vessel"
DOWN = (pi, 0.0, 0.4)
SLOT = (-0.0405, 0.0405, 0.004)  # slot 1 of the medium tray
HELD = (0.3, 0.3, 1.2)
HANGS = (-0.4, 0.4, 1.1)


@dataclass
class Thing:
    """One object: its class, what it is, where it is, when it was seen."""

    kind: str
    pose: Pose
    sku: str = ""
    size_m: tuple[float, float, float] | None = None
    seen_s: float | None = inf
    variances: tuple[float, ...] = VARIANCES


@dataclass
class Scene:
    """A `SensedState` whose every detail a test can set."""

    things: dict[str, Thing]
    tools: dict[str, ToolState] = field(default_factory=dict)
    links: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    designs: dict[str, dict[str, int]] = field(default_factory=dict)
    now_s: float = 10.0

    def names(self):
        return list(self.things)

    def kind(self, name):
        return self.things[name].kind

    def sku(self, name):
        return self.things[name].sku

    def size_m(self, name):
        return self.things[name].size_m

    def estimate(self, name):
        thing = self.things[name]
        seen_s = self.now_s - 0.1 if thing.seen_s == inf and thing.sku else thing.seen_s
        evidence = Evidence.DRAWN if seen_s is None else Evidence.FIXED if seen_s == inf else Evidence.SEEN
        return PoseEstimate(thing.pose.matrix, thing.variances, evidence, seen_s or 0.0, "camera")

    def tool(self, name):
        return self.tools.get(name)

    def related(self, path, first):
        return self.links.get((path, first), [])

    def wanted(self, kit):
        return self.designs.get(kit, {})

    def capacity(self, box):
        return 2 if box == "outlet" else Unknown("nobody has counted")

    def move(self, name, *, x=0.0, y=0.0, z=0.0):
        thing = self.things[name]
        self.things[name] = replace(thing, pose=Pose.from_xyz_rpy([x, y, z]) @ thing.pose)

    def grip(self, x, y, z, **reported):
        self.tools["tool"] = self.tools["robot"] = tool_state(x, y, z, **reported)

    def suck(self, *, holding=True):
        pose = Pose.from_xyz_rpy(HANGS, (pi, 0.0, 0.0))
        self.tools["cups"] = self.tools["carrier"] = ToolState("carrier", "tray_vacuum", pose, 0.0, holding, 9.95)

    def hang(self, name):
        """A kit tray or kit below the cups of another robot."""
        self.things |= {"cups": Thing("MultiCupEffector", at(0, 0, 2)), "carrier": Thing("Robot", at(0, 0, 2))}
        x, y, z = HANGS
        self.things[name] = replace(self.things[name], pose=at(x, y + 0.001, z - 0.017))
        self.suck()

    def value(self, predicate, *names):
        return Evaluator(self).evaluate(predicate, *names).value


def at(x, y, z, yaw=0.0):
    return Pose.from_xyz_rpy([x, y, z], [0.0, 0.0, yaw])


def tool_state(x, y, z, *, width_m=0.008, holding=True, time_s=9.95):
    pose = Pose.from_xyz_rpy([x, y, z], DOWN)
    return ToolState("robot", "aprs_fanuc_gripper", pose, width_m, holding, time_s)


@pytest.fixture
def scene():
    """A table with a tray, a kit and boxes; gear 1 in the tray, gear 2 in the kit, gear 3 in the hand, and so on."""
    box = (0.6, 0.6, 0.3)
    things = {
        "table": Thing("WorkTable", at(0, 0, 0), size_m=(1.0, 1.0, 0.9), seen_s=9.9, variances=(0.0,) * 6),
        "bare": Thing("WorkTable", at(3, 0, 0), size_m=(1.0, 1.0, 0.9), seen_s=9.9, variances=(0.0,) * 6),
        "tray": Thing("PartsTray", at(0, 0, 0.9, 0.1), TRAY),
        "kit_tray": Thing("KitTray", at(0.3, 0, 0.9), KIT),
        "kit": Thing("Kit", at(0.3, 0, 0.9), KIT),
        "gear_1": Thing("Part", at(0, 0, 0.9, 0.1) @ at(*SLOT), GEAR),
        "gear_2": Thing("Part", at(0.3 - 0.040, 0.055, 0.9 + 0.004), GEAR),
        "gear_3": Thing("Part", at(HELD[0], HELD[1], HELD[2] - 0.0266), GEAR),
        "tool": Thing("ParallelGripper", at(0, 0, 2)),
        "robot": Thing("Robot", at(0, 0, 2)),
        "spare": Thing("ParallelGripper", at(-2, 0, 0.9 + 0.01), size_m=(0.1, 0.1, 0.2), seen_s=9.9),
        "holder": Thing("EndEffectorHolder", at(-2, 0, 0.9), size_m=(0.2, 0.2, 0.1), seen_s=9.9),
        "empty_holder": Thing("EndEffectorHolder", at(-2, 1, 0.9), size_m=(0.2, 0.2, 0.1), seen_s=9.9),
        "station": Thing("EndEffectorChangingStation", at(-2, 0, 0), size_m=(1.0, 3.0, 0.9), seen_s=9.9),
        "supply": Thing("LargeBoxWithEmptyKitTrays", at(0, 3, 0), size_m=box, seen_s=9.9),
        "stacked": Thing("KitTray", at(0, 3, 0.1), KIT),
        "outlet": Thing("LargeBoxWithKits", at(0, 5, 0), size_m=box, seen_s=9.9),
        "done": Thing("Kit", at(0, 5, 0.15), KIT),
        "bare_robot": Thing("Robot", at(5, 5, 2), size_m=(0.1, 0.1, 0.1), seen_s=9.9),
    }
    scene = Scene(things)
    scene.grip(*HELD)
    return scene
