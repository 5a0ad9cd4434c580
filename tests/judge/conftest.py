"""One laboratory for all tests of the judge, and the moments at which they begin."""

import numpy as np
import pytest

from cellwright.catalogue import seated_height_m
from cellwright.core.pose import Pose
from cellwright.judge import DropMonitor, FaultScheduler, HandMonitor, parse_fault
from cellwright.lab import Lab
from cellwright.motion import LineSpeed

GEAR = "medium_gear_1"
SLOW, FAST = LineSpeed(0.12, 0.6, 6.0), LineSpeed(0.4)


class Stand:
    """A laboratory with a judge in it; `at` goes to a moment: `start`, `hover` over a gear, `held` 50 mm up."""

    def __init__(self):
        self.lab = Lab.from_cell("aprs", seed=1)
        self.world, self.arm = self.lab.world, self.lab.robot("fanuc")
        self.hand_monitor = HandMonitor(self.world, self.lab.stepper)
        self.drops = DropMonitor(self.world, self.lab.stepper, self.hand_monitor)
        self.heard = []
        self.hand_monitor.listen(self.heard.append)
        self.scheduler = None
        self._moments = {"start": self.lab.snapshot()}
        for name, work in (("hover", self.hover), ("held", self.take)):
            self.lab.perform(work())
            self._moments[name] = self.lab.snapshot()

    def at(self, moment, *specs):
        self.close()
        self.lab.restore(self._moments[moment])
        self.heard.clear()
        faults = [parse_fault(spec) for spec in specs]
        lab = self.lab
        self.scheduler = FaultScheduler(lab.world, lab.stepper, lab.bus, self.hand_monitor, faults, lab.sensors)
        return self.scheduler

    def close(self):
        if self.scheduler is not None:
            self.scheduler.stop()
            self.scheduler = None

    def grasp(self, part=GEAR):
        """How the tool stands when it holds a gear."""
        pose = self.world.pose_of(part)
        return Pose.from_xyz_rpy(pose.apply([0, 0, 0.027]), [np.pi, 0, 0])

    async def hover(self, part=GEAR):
        await self.arm.gripper.open()
        await self.arm.move_tool(raised(self.grasp(part), 0.05), 0.6)

    async def take(self, part=GEAR):
        grasp = self.grasp(part)
        await self.arm.move_tool_straight(grasp, SLOW)
        await self.lab.clock.sleep(0.05)
        await self.arm.gripper.close()
        await self.arm.move_tool_straight(raised(grasp, 0.05), FAST)

    async def shift(self, x_m, y_m, z_m=0.0):
        await self.arm.move_tool_straight(raised(self.arm.tool_in_world, z_m, x_m, y_m), FAST)

    def fill(self, parts, tray="fanuc_kit_m2l1"):
        """Sets gears into a tray's slots, by hand."""
        figures = self.world.objects[tray].figures
        slots = {slot.name: slot for slot in figures.slots}
        for slot, part in parts.items():
            height_m = seated_height_m(figures, slots[slot], self.world.objects[part].figures) + 0.0005
            self.world.place(part, self.world.pose_of(tray) @ Pose.from_xyz_rpy([*slots[slot].xy_m, height_m]))
        self.lab.advance(0.6)

    def moments(self):
        return [(event.moment.value, event.part) for event in self.heard]

    def position(self, name=GEAR):
        return self.world.pose_of(name).position


def raised(pose, z_m, x_m=0.0, y_m=0.0):
    return Pose(pose.position + [x_m, y_m, z_m], pose.quaternion)


@pytest.fixture(scope="session")
def _stand():
    made = Stand()
    yield made
    made.lab.close()


@pytest.fixture
def stand(_stand):
    _stand.at("start")
    yield _stand
    _stand.at("start")
    _stand.close()
