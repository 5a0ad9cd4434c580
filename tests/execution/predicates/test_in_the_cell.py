"""The real cell: detectors, tracker, belief, predicates; things are moved in the world behind the controller's back."""

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.drawings import Drawings
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.execution.predicates import Evaluator, Truth
from cellwright.knowledge import Belief, Database, ToolState, WorldModel, fill
from cellwright.knowledge.belief_writer import note_held, note_released
from cellwright.knowledge.held_pose import in_hands
from cellwright.lab import Lab
from cellwright.motion import LineSpeed
from cellwright.perception import Tracker
from cellwright.trials.detector_views import view_model
from cellwright.trials.kitting_controller import expected_in

GEAR, TRAY, KIT, TABLE = "medium_gear_2", "fanuc_medium_tray", "fanuc_kit_m2l1", "fanuc_cart"
BESIDE = Pose.from_xyz_rpy([0.52, -1.15, 0.917])  # on the cart, in view past the arm
LOOK_S = 0.45
SLOW = LineSpeed(speed_mps=0.12, acceleration_mps2=0.6, jerk_mps3=6.0)


def with_poses(cell):
    """The cell with detectors that tell height and lean, and see what falls on the floor, as predicates ask for."""
    noise = {"x_m": 0.00028, "y_m": 0.00033, "z_m": 0.0005, "roll_deg": 0, "pitch_deg": 0, "yaw_deg": 0.3}
    fields = {"detector_fanuc": ((-0.51, -1.63), (1.20, -0.86)), "detector_motoman": ((-0.45, -0.86), (0.51, -0.40))}
    lines = [
        line
        if line.get("name") not in fields
        else {
            **{key: line[key] for key in ("name", "camera", "rate_hz", "delay_s")},
            **{"type": "logical_detector", "noise": noise},
            **dict(zip(("min_xy_m", "max_xy_m"), fields[line["name"]], strict=True)),
        }
        for line in cell.sensors
    ]
    return cell.model_copy(update={"sensors": tuple(lines)})


class Watch:
    """A laboratory with everything between its detectors and the predicates."""

    def __init__(self, lab):
        self.lab = lab
        database = Database("sqlite://")
        fill(database, workstation_of(lab.cell), designs_for([]))
        self.belief = Belief(WorldModel(database))
        drawings, detectors = Drawings.of(lab.cell), ["detector_fanuc", "detector_motoman"]
        self.view = view_model(drawings, detectors)
        self.tracker = Tracker(expected_in(self.belief.state), views=drawings.views(detectors), view=self.view)
        self.belief.follower, self.belief.state.view = self.tracker, self.view
        self.arms = {
            name: ArmCapsules(ROBOTS.get(robot.model), robot.base.pose) for name, robot in lab.cell.robots.items()
        }
        for name in detectors:
            lab.bus.subscribe(f"/{name}/detections", self._see, subscriber="tracker")
        believed = self.belief.state
        believed.clock, believed.report = (lambda: lab.world.clock.time_s), self._report
        self.evaluator = Evaluator(believed)

    def _see(self, _topic, message):
        for name, arm in self.lab.robots.items():  # the tests look while they stand still
            rows = self.arms[name].at(arm.joints_rad, arm.gripper.name)
            self.view.note_arm(name, message.time_s, rows, still=True)
        self.tracker.set_held(in_hands(self.belief.state))
        self.belief.take(self.tracker.take(message))

    def _report(self, robot):
        arm = self.lab.robots[robot]
        gripper = arm.gripper
        return ToolState(
            robot, gripper.name, arm.tool_in_world, gripper.width_m, gripper.holding, self.lab.world.clock.time_s
        )

    def after_looking(self, predicate, *names):
        self.lab.advance(LOOK_S)
        return self.evaluator.evaluate(predicate, *names)

    def put(self, name, pose):
        self.lab.world.place(name, pose)

    def where(self, name):
        return self.lab.world.pose_of(name)


@pytest.fixture(scope="module")
def watch():
    with Lab(with_poses(load_cell("aprs")), 5) as lab:
        yield Watch(lab)


@pytest.fixture
def home(watch):
    """Puts back what a test has moved."""
    poses = {name: watch.where(name) for name in watch.lab.world.objects}
    yield poses
    for name, pose in poses.items():
        if not watch.where(name).is_close(pose, tolerance_m=1e-3, tolerance_rad=0.1):
            watch.put(name, pose)
    watch.lab.advance(1.0)


def shifted(pose, x=0.0, y=0.0, z=0.0):
    return Pose.from_xyz_rpy([x, y, z]) @ pose


@pytest.mark.parametrize(
    ("predicate", "names"),
    [
        ("part-has-physicalLocation-refObject-partsTray", (GEAR, TRAY)),
        ("partsVessel-has-part", (TRAY, GEAR)),
    ],
)
def test_a_gear_that_is_taken_out_of_its_tray(watch, home, predicate, names):
    before = watch.after_looking(predicate, *names)
    assert before.value is Truth.TRUE, before
    watch.put(GEAR, BESIDE)
    after = watch.after_looking(predicate, *names)
    assert after.value is Truth.FALSE, after
    assert GEAR in after.evidence
    assert "by detector_" in after.evidence


def test_a_gear_that_somebody_puts_into_the_kit(watch, home):
    predicate = "part-has-physicalLocation-refObject-kit"
    assert watch.after_looking(predicate, GEAR, KIT).value is Truth.FALSE
    watch.put(GEAR, home[KIT] @ Pose.from_xyz_rpy([-0.040, 0.055, 0.006]))
    after = watch.after_looking(predicate, GEAR, KIT)
    assert after.value is Truth.TRUE, after
    seat = watch.evaluator.seat(GEAR, KIT)
    assert seat.room == "slot_1"
    assert seat.beside_m < 0.001
    assert watch.evaluator.count("kit-wants-part", {"sku": "sku_part_medium_gear", "kit": KIT}).value is Truth.TRUE
    assert watch.belief.world_model.tree.links()[GEAR].reference == KIT  # belief has followed


@pytest.mark.parametrize(
    ("predicate", "names"),
    [
        ("kit-has-physicalLocation-refObject-workTable", (KIT, TABLE)),
        ("workTable-has-objectOnTable-kit", (TABLE, KIT)),
        ("kitTray-has-physicalLocation-refObject-workTable", (f"{KIT}_tray", TABLE)),
        ("workTable-has-objectOnTable-kitTray", (TABLE, f"{KIT}_tray")),
    ],
)
def test_a_kit_tray_that_falls_from_the_cart(watch, home, predicate, names):
    before = watch.after_looking(predicate, *names)
    assert before.value is Truth.TRUE, before
    watch.put(KIT, Pose.from_xyz_rpy([1.0, -1.2, 0.002]))  # on the floor, in view
    after = watch.after_looking(predicate, *names)
    assert after.value is Truth.FALSE, after


def test_a_gear_that_is_pulled_out_of_the_hand(watch, home):
    lab, arm = watch.lab, watch.lab.robots["fanuc"]
    empty = "endEffector-has-no-heldObject"
    held = [
        ("endEffector-has-heldObject-part", "fanuc_tool", GEAR),
        ("part-has-physicalLocation-refObject-endEffector", GEAR, "fanuc_tool"),
    ]
    assert watch.after_looking(empty, "fanuc_tool").value is Truth.TRUE
    assert watch.evaluator.evaluate("robot-has-endEffector", "fanuc", "fanuc_tool").value is Truth.TRUE
    seen = watch.belief.world_model.pose_in(GEAR, lab.cell.name)
    grasp = Pose.from_xyz_rpy(seen.apply([0.0, 0.0, 0.0266]), [np.pi, 0.0, 0.0])

    async def take():
        await arm.gripper.open()
        await arm.move_tool(shifted(grasp, z=0.05))
        await arm.move_tool_straight(grasp, SLOW)
        await arm.gripper.close()

    lab.perform(take())
    for predicate in held:  # gripped, but it stands in its slot, hidden by the hand, when last seen
        result = watch.after_looking(*predicate)
        assert result.value is Truth.FALSE, result
        assert TRAY in result.evidence
    assert watch.evaluator.evaluate(empty, "fanuc_tool").value is Truth.FALSE
    note_held(watch.belief, "fanuc_tool", GEAR)  # what is felt between the fingers moves with them
    lab.perform(arm.move_tool_straight(shifted(grasp, z=0.05), SLOW))
    for predicate in held:
        result = watch.after_looking(*predicate)
        assert result.value is Truth.TRUE, result
    assert watch.evaluator.evaluate(empty, "fanuc_tool").value is Truth.FALSE
    assert watch.evaluator.evaluate("partsVessel-has-part", TRAY, GEAR).value is Truth.FALSE
    watch.put(GEAR, BESIDE)
    for predicate in held:
        result = watch.after_looking(*predicate)
        assert result.value is Truth.FALSE, result
    lab.perform(arm.gripper.open())
    note_released(watch.belief, "fanuc_tool")
    assert watch.after_looking(empty, "fanuc_tool").value is Truth.TRUE
    lab.perform(arm.move_home())


def test_what_is_carried_out_of_the_cell_becomes_unknown(watch, home):
    watch.put(GEAR, Pose.from_xyz_rpy([2.5, -2.5, 0.001]))  # on the floor, far from every detector
    assert watch.after_looking("partsVessel-has-part", TRAY, GEAR).value is Truth.TRUE  # it was there a moment ago
    watch.lab.advance(1.0)
    result = watch.evaluator.evaluate("partsVessel-has-part", TRAY, GEAR)
    assert result.value is Truth.UNKNOWN
    assert "should have been seen and was not" in result.evidence
