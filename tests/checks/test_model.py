"""The conformance check of models: silent about good ones, clear about each fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest

from cellwright.catalogue import KINDS, ROBOTS, find_model
from cellwright.cells import load_cell
from cellwright.checks.body import check_inertia, check_limits, check_mass
from cellwright.checks.model import SAMPLES, check_model, check_reach
from cellwright.checks.model_physics import check_contacts_at_home, check_energy, check_holds, check_rest
from cellwright.models.description import (
    JointDescription,
    JointKind,
    LimitsDescription,
    LinkDescription,
    ModelDescription,
)
from cellwright.motion import ArmKinematics
from cellwright.sim import World

ALL = [(kind, name) for kind, registry in KINDS.items() for name in registry]
SOON = ("ur5", "epuck", "robotiq_2f_85", "bottle", "large_gear_tray", "fence")


def spec_of(xml: str):
    return mujoco.MjSpec.from_string(f"<mujoco><compiler angle='radian'/><worldbody>{xml}</worldbody></mujoco>")


@pytest.mark.parametrize(
    ("kind", "name"), [pytest.param(k, n, marks=[] if n in SOON else pytest.mark.slow) for k, n in ALL]
)
def test_catalogue_conforms(kind, name):
    findings = check_model(find_model(name)[1], kind)
    assert [f for f in findings if not f.ok] == []
    assert {"builds", "mass", "inertia"} <= {f.check for f in findings}


def test_the_gauges_of_an_imported_gripper_are_no_bodies_to_be_weighed(own_models, tmp_path):
    file = Path(__file__).parents[1] / "models" / "importing" / "data" / "gripper.urdf"
    (tmp_path / "cell.yaml").write_text(
        f"name: c\ntitle: t\nmodels: {{hand: {file}}}\n"
        "robots: {r: {model: sia20f, tool: hand, base: {xyz_m: [0, 0, 0.5]}}}\n"
    )
    world = World(load_cell(tmp_path / "cell.yaml"), 0)
    assert world.model.body("r/tool/gauge_left").mass[0] * 1e5 < world.model.body_mass.max()  # as little as that
    assert check_mass(world.model).ok
    assert check_inertia(world.model).ok


def test_mass():
    light = spec_of("<body><freejoint/><geom size='.1' mass='1e-6'/></body>").compile()
    assert not check_mass(light).ok
    odd = spec_of(
        "<body name='a'><freejoint/><geom size='.1' mass='9e3'/><body name='b'><joint/>"
        "<geom size='.1' mass='1e-2'/></body></body>"
    ).compile()
    found = check_mass(odd)
    assert (found.ok, found.detail) == (False, "'a' weighs 9e+05 times as much as 'b'")
    assert check_mass(spec_of("<body><geom size='.1'/></body>").compile()).detail.startswith("nothing moves; 4.189 kg")


def test_inertia():
    body = "<body name='a'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='{}'/><geom size='.1'/></body>"
    assert check_inertia(spec_of(body.format("0.004 0.004 0.004")).compile()).ok
    too_much = check_inertia(spec_of(body.format("0.04 0.04 0.04")).compile())
    assert (too_much.ok, "too much for a shape of 0.1 m" in too_much.detail) == (False, True)
    too_little = check_inertia(spec_of(body.format("1e-9 1e-9 1e-9")).compile())
    assert (too_little.ok, "next to nothing" in too_little.detail) == (False, True)
    model = spec_of(body.format("0.004 0.004 0.004")).compile()
    model.body_inertia[1] = (0.001, 0.001, 0.004)
    assert "one exceeds the sum of the others" in check_inertia(model).detail
    model.body_inertia[1] = (-0.001, 0.001, 0.004)
    assert "must be positive" in check_inertia(model).detail


@pytest.mark.parametrize(
    ("kind", "limits", "problem"),
    [
        (JointKind.REVOLUTE, LimitsDescription(lower=1.0, upper=-1.0), "goes from 1 to -1 rad"),
        (JointKind.REVOLUTE, LimitsDescription(lower=-170.0, upper=170.0), "degrees or millimetres may be meant"),
        (JointKind.PRISMATIC, LimitsDescription(lower=0.0, upper=85.0), "degrees or millimetres may be meant"),
        (JointKind.CONTINUOUS, LimitsDescription(velocity=450.0), "speed limit 450 rad/s"),
        (JointKind.CONTINUOUS, LimitsDescription(effort=0.0), "effort limit 0"),
    ],
)
def test_limits(kind, limits, problem):
    joint = JointDescription(name="j", kind=kind, parent="a", child="b", limits=limits)
    found = check_limits(
        ModelDescription(name="m", links=(LinkDescription(name="a"), LinkDescription(name="b")), joints=(joint,))
    )
    assert not found.ok
    assert problem in found.detail


def test_limits_that_nobody_knows_are_told():
    joint = JointDescription(
        name="j", kind=JointKind.REVOLUTE, parent="a", child="b", limits=LimitsDescription(lower=-1.0, upper=1.0)
    )
    found = check_limits(
        ModelDescription(name="m", links=(LinkDescription(name="a"), LinkDescription(name="b")), joints=(joint,))
    )
    assert (found.ok, found.detail) == (True, "1 joints in order; without a limit of speed or effort: j")


def test_contacts_at_home():
    arm = """<body name="a"><geom size=".1"/><body name="b" pos="0 0 1"><joint name="j" range="-1 1" limited="true"/>
        <geom size=".1"/><body name="c" pos="0 {} -1"><geom size=".1"/></body></body></body>"""
    assert check_contacts_at_home(spec_of(arm.format(0.3)), {}).ok
    found = check_contacts_at_home(spec_of(arm.format(0.15)), {})
    assert (found.ok, found.detail) == (False, "'a' and 'c' overlap by 50.0 mm")
    found = check_contacts_at_home(spec_of(arm.format(0.3)), {"j": 1.5})
    assert (found.ok, found.detail) == (False, "outside their limits: j")


def test_servo_that_is_weak_or_swings_does_not_hold():
    arm = spec_of("<body><joint name='j' axis='0 1 0'/><geom size='.1' pos='1 0 0' mass='5'/></body>")
    motor = arm.add_actuator(name="j", target="j", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_position(kp=10.0)
    found = check_holds(arm, {})
    assert found is not None
    assert not found.ok
    assert " away 0.5 s after a push" in found.detail
    motor.set_to_position(kp=1e6, kv=1e3)
    assert check_holds(arm, {}).ok
    arm.bodies[1].gravcomp = 1.0
    motor.set_to_position(kp=1e4)  # strong enough, and without damping
    found = check_holds(arm, {})
    assert (found.ok, found.detail[:11], "damping" in found.remedy) == (False, "'j' swings ", True)
    assert check_holds(spec_of("<body><joint/><geom size='.1'/></body>"), {}) is None


def test_ball_does_not_rest_and_a_sharp_thing_sinks():
    assert not check_rest(spec_of("<body><freejoint/><geom size='.1' contype='0' conaffinity='0'/></body>")).ok
    soft = "<body><freejoint/><geom type='box' size='.1 .1 .1' solref='0.2 1' solimp='0.1 0.1 0.01'/></body>"
    found = check_rest(spec_of(soft))
    assert not found.ok
    assert found.values["deepest_m"] > 5e-4


def test_energy_of_a_pendulum_stays(monkeypatch):
    arm = spec_of("""<body><joint axis="0 1 0" damping="3"/><geom size=".1" pos="1 0 0"/>
        <body pos="1 0 0"><joint axis="0 1 0" frictionloss="1"/><geom size=".1" pos="1 0 0"/></body></body>""")
    found = check_energy(arm, {})
    assert found.ok
    assert found.values["drift"] < 1e-6
    assert found.values["kinetic_j"] > 1
    monkeypatch.setattr("cellwright.checks.model_physics.SWING_STEP_S", 0.05)
    quick = spec_of("<body><joint axis='0 1 0'/><geom size='.001' pos='.02 0 0'/></body>")
    assert not check_energy(quick, {}).ok


def test_inverse_kinematics_of_another_arm_is_found(monkeypatch):
    arm = ROBOTS.get("ur5")
    longer, solve = ArmKinematics(replace(arm, flange_xyz_m=(0.0, 0.1, 0.0))), ArmKinematics.inverse_of_many
    monkeypatch.setattr(ArmKinematics, "inverse_of_many", lambda self, *given: solve(longer, *given))
    monkeypatch.setitem(SAMPLES, "analytic", 20)
    ok = {finding.check: finding.ok for finding in check_reach(arm)}
    assert ok == {"inverse kinematics": False, "reach": True}
