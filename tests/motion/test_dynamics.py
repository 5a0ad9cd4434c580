"""The terms of the equation of motion, each against a numerical derivative of something simpler."""

from functools import cache

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import ROBOTS, TOOLS
from cellwright.core.errors import BadInput
from cellwright.motion import ArmDynamics, ArmKinematics, Payload

NAMES = ("lr_mate_200id", "sia20f", "ur5")
TOOL_OF = {"lr_mate_200id": "aprs_fanuc_gripper", "sia20f": "aprs_motoman_gripper", "ur5": "wsg_50"}
STEP = 1e-5
arms = pytest.mark.parametrize("name", NAMES)


@cache
def arm(name: str, loaded: bool = True) -> tuple[ArmKinematics, ArmDynamics]:
    figures = ROBOTS.get(name)
    tool = TOOLS.get(TOOL_OF[name]) if loaded else None
    load = Payload(0.8, (0.02, -0.01, 0.2), (0.002, 0.003, 0.001)) if loaded else Payload()
    return ArmKinematics(figures), ArmDynamics(figures, tool, load)


@st.composite
def states(draw, name):
    kinematics, _ = arm(name)
    count = len(kinematics.lower_rad)
    shares = np.array(draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    speeds = draw(st.lists(st.floats(-2, 2), min_size=count, max_size=count))
    return kinematics.lower_rad + shares * (kinematics.upper_rad - kinematics.lower_rad), np.array(speeds)


def energy_j(dynamics: ArmDynamics, q, qd) -> tuple[float, float]:
    """Potential and kinetic energy, by the engine."""
    dynamics.inverse(q, qd, np.zeros_like(q))  # puts the arm there
    mujoco.mj_makeM(dynamics._model, dynamics._data)
    mujoco.mj_energyPos(dynamics._model, dynamics._data)
    mujoco.mj_energyVel(dynamics._model, dynamics._data)
    return tuple(dynamics._data.energy)


def mass_slopes(dynamics: ArmDynamics, q: np.ndarray) -> np.ndarray:
    """dM/dq_k (k, i, j) by central differences."""
    rest = np.zeros_like(q)
    steps = np.eye(len(q)) * STEP
    return np.array([(dynamics.dynamics(q + s, rest).M - dynamics.dynamics(q - s, rest).M) / (2 * STEP) for s in steps])


@arms
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_mass_matrix_is_symmetric_positive_and_the_kinetic_energy(name, data):
    _, dynamics = arm(name)
    q, qd = data.draw(states(name))
    mass = dynamics.dynamics(q, qd).M
    assert mass == pytest.approx(mass.T, abs=1e-12)
    assert np.linalg.eigvalsh(mass).min() >= dynamics.armature_kgm2.min() * (1 - 1e-9)  # even a line has its rotors
    assert energy_j(dynamics, q, qd)[1] == pytest.approx(qd @ mass @ qd / 2, rel=1e-9, abs=1e-12)


@arms
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_gravity_is_the_slope_of_the_potential_energy(name, data):
    _, dynamics = arm(name)
    q, _ = data.draw(states(name))
    rest = np.zeros_like(q)
    steps = np.eye(len(q)) * STEP
    slope = [(energy_j(dynamics, q + s, rest)[0] - energy_j(dynamics, q - s, rest)[0]) / (2 * STEP) for s in steps]
    assert dynamics.dynamics(q, rest).g == pytest.approx(slope, abs=1e-5)


@arms
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_coriolis_torques_are_those_of_christoffels_symbols(name, data):
    _, dynamics = arm(name)
    q, qd = data.draw(states(name))
    slopes = mass_slopes(dynamics, q)
    christoffel = (np.einsum("kij->ijk", slopes) + np.einsum("jik->ijk", slopes) - np.einsum("ijk->ijk", slopes)) / 2
    expected = np.einsum("ijk,j,k->i", christoffel, qd, qd)
    assert dynamics.dynamics(q, qd).C_qd == pytest.approx(expected, abs=1e-5)


@arms
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_jacobian_and_its_change_are_derivatives_of_the_flange(name, data):
    kinematics, dynamics = arm(name)
    q, qd = data.draw(states(name))
    terms = dynamics.dynamics(q, qd)
    assert np.abs(terms.J - kinematics.jacobian(q)).max() < 1e-10
    change = (kinematics.jacobian(q + qd * STEP) - kinematics.jacobian(q - qd * STEP)) / (2 * STEP)
    assert terms.Jdot_qd == pytest.approx(change @ qd, abs=1e-6)


@arms
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_torque_is_the_sum_of_the_terms_and_of_the_losses(name, data):
    _, dynamics = arm(name)
    q, qd = data.draw(states(name))
    qdd = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=len(q), max_size=len(q))))
    terms = dynamics.dynamics(q, qd)
    lost = dynamics.damping_nms_per_rad * qd
    expected = terms.M @ qdd + terms.C_qd + terms.g + lost
    assert dynamics.inverse(q, qd, qdd) == pytest.approx(expected, abs=1e-9)
    rows = [(j.armature_kgm2, j.viscous_damping_nms_per_rad) for j in dynamics.arm.joints]
    assert np.column_stack([dynamics.armature_kgm2, dynamics.damping_nms_per_rad]) == pytest.approx(np.array(rows))


@arms
def test_falling_freely_keeps_the_energy(name):
    """Without torque or loss; half a second by Runge and Kutta."""
    kinematics, dynamics = arm(name)
    q, qd = np.array(kinematics.arm.home_rad) + 0.2, np.zeros(len(kinematics.lower_rad))
    before = sum(energy_j(dynamics, q, qd))

    def slope(state: np.ndarray) -> np.ndarray:
        position, speed = np.split(state, 2)
        terms = dynamics.dynamics(position, speed)
        return np.concatenate([speed, np.linalg.solve(terms.M, -terms.C_qd - terms.g)])

    state, step_s = np.concatenate([q, qd]), 0.002
    for _ in range(250):
        k1 = slope(state)
        k2 = slope(state + k1 * step_s / 2)
        k3 = slope(state + k2 * step_s / 2)
        k4 = slope(state + k3 * step_s)
        state = state + (k1 + 2 * k2 + 2 * k3 + k4) * step_s / 6
    potential, kinetic = energy_j(dynamics, *np.split(state, 2))
    assert kinetic > 1.0
    assert potential + kinetic == pytest.approx(before, abs=1e-4)


@arms
def test_joint_limits_do_not_push(name):
    kinematics, dynamics = arm(name)
    rest = np.zeros(len(kinematics.lower_rad))
    beyond = kinematics.upper_rad + 0.3
    inside = beyond - 2 * np.pi  # the same place, a turn away, where no limit is
    assert dynamics.inverse(beyond, rest, rest) == pytest.approx(dynamics.inverse(inside, rest, rest), abs=1e-9)


@arms
def test_a_load_weighs_on_the_joints(name):
    kinematics, bare = arm(name, loaded=False)
    loaded = ArmDynamics(kinematics.arm, payload=Payload(2.0))
    q = np.array(kinematics.arm.home_rad) + 0.1
    rest = np.zeros_like(q)
    up = np.array([0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0])
    extra = loaded.inverse(q, rest, rest) - bare.inverse(q, rest, rest)
    assert extra == pytest.approx(kinematics.jacobian(q).T @ up, abs=1e-6)


@arms
def test_a_tool_weighs_what_the_catalogue_says(name):
    kinematics, bare = arm(name, loaded=False)
    figures = TOOLS.get(TOOL_OF[name])
    q = np.array(kinematics.arm.home_rad)
    extra_j = energy_j(ArmDynamics(kinematics.arm, figures), q, q * 0)[0] - energy_j(bare, q, q * 0)[0]
    height_m = kinematics.forward(q).position[2]
    mass_kg = figures.body_mass_kg + 2 * figures.finger_mass_kg
    below_m = height_m - extra_j / (9.81 * mass_kg)
    assert 0 < below_m < figures.tcp_xyz_m[2]  # hangs between the flange and the finger tips


def test_gravity_may_point_anywhere():
    figures = ROBOTS.get("ur5")
    rest = np.zeros(6)
    floating = ArmDynamics(figures, gravity_mps2=(0.0, 0.0, 0.0))
    assert floating.inverse(figures.home_rad, rest, rest) == pytest.approx(rest, abs=1e-12)
    upright, hanging = ArmDynamics(figures), ArmDynamics(figures, gravity_mps2=(0.0, 0.0, 9.81))
    assert hanging.dynamics(figures.home_rad, rest).g == pytest.approx(-upright.dynamics(figures.home_rad, rest).g)


@pytest.mark.parametrize("bad", [{"mass_kg": -1.0}, {"mass_kg": np.nan}, {"inertia_kgm2": (0, 0, -1)}])
def test_a_payload_that_cannot_be_is_refused(bad):
    with pytest.raises(BadInput, match="a payload has"):
        Payload(**bad)


def test_a_wrong_number_of_speeds_is_one_line():
    _, dynamics = arm("ur5")
    with pytest.raises(BadInput, match="ur5 has 6 joints and needs 6 finite angles"):
        dynamics.dynamics([0.0] * 6, [0.0] * 5)
