"""The rough floor: the same for a seed, periodic, smooth, as rough as it is said to be, and felt by every foot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.cells.mobiles import RoughnessCfg
from cellwright.lab import Lab
from cellwright.sim.floor import CELLS, PITCH_M, FloorHeights, floor_table

GRAIN, UNEVEN = RoughnessCfg(length_m=0.0015, rms_m=28e-6), RoughnessCfg(length_m=0.03, rms_m=50e-6)
PERIOD_M = CELLS * PITCH_M


def heights(points, seed=3, roughness=(GRAIN, UNEVEN)) -> np.ndarray:
    points = np.asarray(points, float).reshape(-1, 2)
    places = np.arange(points.size).reshape(-1, 2)
    return FloorHeights(floor_table(seed, roughness), places).heights_m(points.ravel())


coordinate = st.floats(-3.0, 3.0, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(coordinate, coordinate, st.integers(-9, 9), st.integers(-9, 9))
def test_it_repeats_itself(x, y, along, across):
    here, there = heights([(x, y), (x + along * PERIOD_M, y + across * PERIOD_M)])
    assert there == pytest.approx(here, abs=1e-7)  # a place is known to a thousandth of a cell


@settings(max_examples=60, deadline=None)
@given(coordinate, coordinate, st.floats(0, 2 * np.pi))
def test_it_has_no_edges(x, y, way):
    """Heights and slopes along any line of 2 mm change no faster than Gaussian roughness does, also between cells."""
    step_m = 5e-6
    line = np.arange(400)[:, None] * step_m * [np.cos(way), np.sin(way)] + [x, y]
    rises = np.diff(heights(line)) / step_m
    assert np.abs(rises).max() < 6 * 2**0.5 * GRAIN.rms_m / GRAIN.length_m  # six deviations of its slope
    bends = np.diff(rises[::20]) / (20 * step_m)
    assert np.abs(bends).max() < 6 * 12**0.5 * GRAIN.rms_m / GRAIN.length_m**2


@pytest.mark.parametrize("kind", [GRAIN, UNEVEN])
def test_it_is_as_rough_as_it_is_said_to_be(kind):
    points = np.random.default_rng(0).uniform(0, PERIOD_M, (20000, 2))
    beside = points + [kind.length_m, 0.0]
    here, there = heights(points, roughness=(kind,)), heights(beside, roughness=(kind,))
    assert here.std() == pytest.approx(kind.rms_m, rel=0.15 if kind is UNEVEN else 0.03)  # few bumps of 30 mm fit in
    assert np.mean(here * there) / here.var() == pytest.approx(np.exp(-1), abs=0.15 if kind is UNEVEN else 0.03)
    assert abs(heights(points).mean()) < 3e-6


def test_a_floor_belongs_to_its_seed():
    points = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    assert (heights(points) == heights(points)).all()
    assert not np.isclose(heights(points), heights(points, seed=4)).any()


def lab_on(*roughness: RoughnessCfg, seed=1, **changes) -> Lab:
    cell = load_cell("epucks@one").model_copy(update={"arena": None, "actual": ActualCfg(), **changes})
    return Lab(cell.model_copy(update={"floor_roughness": roughness}), seed)


def test_wheels_and_skids_stand_as_high_as_the_floor_below_them():
    with lab_on(GRAIN, UNEVEN) as lab, lab_on() as even:
        world, model, place = lab.world, lab.world.model, {}
        lab.advance(1.0)
        even.advance(1.0)
        for name in ("wheel_left", "wheel_right", "skid_1"):
            geom = model.geom(f"ePuck0/{name}").id
            x, y, z = world.data.geom_xpos[geom]
            place[name] = z - even.world.data.geom_xpos[geom][2], heights([(x, y)], seed=1)[0]
        for rise, height in place.values():
            assert rise == pytest.approx(height, abs=2e-6)
        assert np.ptp([height for _, height in place.values()]) > 2e-5


def test_no_foot_loses_the_floor_on_a_high_bump():
    """Contacts are looked for within volumes that are made for plain wheels and skids."""
    with lab_on(UNEVEN.model_copy(update={"rms_m": 0.0002})) as lab:
        world, heard = lab.world, []
        for at in np.linspace(0, 0.25, 60):
            data = world.data
            data.qpos[world.mobiles["ePuck0"].qpos] = at
            world.engine.step(25)
            names = {world.model.geom(int(contact.geom[1])).name.partition("/")[2] for contact in data.contact}
            heard.append({"wheel_left", "wheel_right"} <= names and bool(names & {"skid_0", "skid_1"}))
    assert all(heard)


def test_radii_are_plain_between_steps():
    """What is drawn, hashed and met by rays is the robot, not the floor."""
    with lab_on(GRAIN, UNEVEN) as lab:
        before = lab.world.model.geom_size.copy()
        lab.mobile("ePuck0").move(0.05, 0.0)
        lab.advance(0.4)
        assert (lab.world.model.geom_size == before).all()


def test_an_even_floor_is_even():
    with lab_on() as lab:
        lab.mobile("ePuck0").move(0.05, 0.0)
        lab.advance(1.0)
        low = lab.world.pose_of("ePuck0").position[2]
        lab.advance(1.0)
        assert lab.world.pose_of("ePuck0").position[2] == pytest.approx(low, abs=1e-6)
