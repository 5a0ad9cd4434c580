"""What becomes of a gear that is let go near its slot, by contact physics alone.

The lab's slots are 45-degree cones and its gears have the same cone, so friction (0.3) cannot hold a gear that is
a few millimetres off: it slides in. It jams only when its disc's far edge falls off the tray's upper face into
the mouth of the slot, that is beyond tip radius - slot radius (4.8 mm for the medium gear, 5.5 mm for the large
one). The small gear's bottom is so narrow that it slides in from wherever it lands inside the mouth. A flat gear
in a straight-walled slot jams at 8 mm, and a plug as soon as its edge meets the chamfer: let go, it tilts.
"""

from dataclasses import dataclass, replace
from functools import cache

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.gears import (
    GEARS,
    LARGE_GEAR,
    LARGE_PLUG_GEAR,
    MEDIUM_GEAR,
    MEDIUM_PLUG_GEAR,
    PLUG_GEARS,
    SMALL_GEAR,
    GearFigures,
)
from cellwright.catalogue.plug_trays import KIT_M2L1_PLUG_TRAY, coarsest_step_s, with_clearance
from cellwright.catalogue.seating import seated_height_m
from cellwright.catalogue.trays import (
    LARGE_GEAR_TRAY,
    MEDIUM_GEAR_TRAY,
    SMALL_GEAR_TRAY,
    TRAYS,
    SlotFigures,
    TrayFigures,
)
from cellwright.models.contact_settings import METAL, make_collision
from cellwright.models.gear import build_gear
from cellwright.models.tray import build_tray

pytestmark = pytest.mark.slow

GEAR_OF = {gear.sku: gear for gear in GEARS.values()}
TRAY_OF = {"small_gear": SMALL_GEAR_TRAY, "medium_gear": MEDIUM_GEAR_TRAY, "large_gear": LARGE_GEAR_TRAY}
DIRECTIONS_RAD = np.arange(8) * np.pi / 4
gears = pytest.mark.parametrize("gear", [SMALL_GEAR, MEDIUM_GEAR, LARGE_GEAR], ids=lambda gear: gear.name)

# A flat gear of 60 mm in a slot 8 mm deep with 0.5 mm play.
FLAT_GEAR = replace(
    MEDIUM_GEAR,
    name="flat_gear",
    cone_bottom_radius_m=0.030,
    cone_top_radius_m=0.030,
    root_radius_m=0.030,
    tip_radius_m=0.030,
    cone_height_m=0.006,
    peg_height_m=0.012,
)
STRAIGHT_TRAY = replace(
    MEDIUM_GEAR_TRAY,
    name="straight_tray",
    slots=tuple(
        replace(slot, bottom_radius_m=0.0305, top_radius_m=0.0305, floor_m=0.009) for slot in MEDIUM_GEAR_TRAY.slots
    ),
)


def new_world():
    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep = 0.002
    option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 100
    option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    table = spec.worldbody.add_geom(
        name="table", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5, 0.5, 0.02], pos=[0, 0, -0.02]
    )
    make_collision(table, METAL)
    return spec


def add(spec, child, prefix, position, yaw_rad=0.0):
    frame = spec.worldbody.add_frame(pos=position, quat=[np.cos(yaw_rad / 2), 0, 0, np.sin(yaw_rad / 2)])
    frame.attach_body(child.worldbody.first_body(), prefix, "").add_freejoint()


@dataclass(frozen=True)
class Outcome:
    """Where the gear is after it came to rest, in the tray's frame."""

    offset_m: float
    tilt_rad: float
    height_m: float
    speed_mps: float
    penetration_m: float
    asleep: bool

    @property
    def seated(self) -> bool:
        return self.offset_m < 0.001 and self.tilt_rad < np.radians(2)


class Trial:
    """One tray with one gear, both free, on a table."""

    def __init__(self, tray: TrayFigures, gear: GearFigures, slot: SlotFigures) -> None:
        spec = new_world()
        add(spec, build_tray(tray), "tray/", (0, 0, 0))
        add(spec, build_gear(gear), "gear/", (0, 0, 0.1))
        self.tray, self.gear, self.slot = tray, gear, slot
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        joint = self.model.body("gear/part").jntadr[0]
        self.q, self.v = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
        self.seat_m = seated_height_m(tray, slot, gear)

    def put(self, offset_m: float, direction_rad: float, height_m: float) -> None:
        mujoco.mj_resetData(self.model, self.data)
        x, y = np.array(self.slot.xy_m) + offset_m * np.array([np.cos(direction_rad), np.sin(direction_rad)])
        self.data.qpos[self.q : self.q + 7] = [x, y, height_m, np.cos(0.1), 0, 0, np.sin(0.1)]
        mujoco.mj_forward(self.model, self.data)

    def depth_m(self) -> float:
        """Deepest penetration between gear and tray."""
        bodies = self.model.geom_bodyid[self.data.contact.geom]
        own = (bodies != 0).all(axis=1)
        return float(-min(self.data.contact.dist[own], default=0.0))

    def release(self, offset_m: float, direction_rad: float) -> Outcome:
        """Lets the gear go, level, 2 mm above where it would first touch on its way straight down."""
        low, high = self.seat_m - 0.0005, self.tray.thickness_m + 0.002
        while high - low > 1e-5:
            middle = (low + high) / 2
            self.put(offset_m, direction_rad, middle)
            low, high = (middle, high) if self.depth_m() > 0 else (low, middle)
        self.put(offset_m, direction_rad, high + 0.002)
        return self.settle()

    def settle(self, limit_s: float = 2.0) -> Outcome:
        speed, depth, asleep = 0.0, self.depth_m(), False
        while self.data.time < limit_s and not asleep:
            mujoco.mj_step(self.model, self.data)
            speed = max(speed, float(np.linalg.norm(self.data.qvel[self.v : self.v + 3])))
            asleep = bool((self.data.tree_asleep[: self.model.ntree] >= 0).all())
            if not asleep:
                depth = self.depth_m()
        gear, tray = self.data.body("gear/part"), self.data.body("tray/tray")
        place = tray.xmat.reshape(3, 3).T @ (gear.xpos - tray.xpos)
        offset = float(np.hypot(*(place[:2] - self.slot.xy_m)))
        tilt = float(np.arccos(np.clip(gear.xmat[8], -1, 1)))
        return Outcome(offset, tilt, float(place[2]), speed, depth, asleep)


@cache
def trial(gear: str) -> Trial:
    if gear == "flat_gear":
        return Trial(STRAIGHT_TRAY, FLAT_GEAR, STRAIGHT_TRAY.slots[0])
    tray = TRAY_OF[gear]
    return Trial(tray, GEARS[gear], tray.slots[0])


@gears
@pytest.mark.parametrize("offset_mm", [0, 1, 2, 4.5])
def test_a_gear_let_go_near_its_slot_slides_in_and_sits(gear, offset_mm):
    cell = trial(gear.name)
    for direction in DIRECTIONS_RAD:
        outcome = cell.release(offset_mm / 1000, direction)
        assert outcome.seated, outcome
        assert outcome.height_m == pytest.approx(cell.seat_m, abs=1.5e-4)
        assert outcome.penetration_m < 5e-5
        assert outcome.asleep


@pytest.mark.parametrize("gear", [MEDIUM_GEAR, LARGE_GEAR], ids=lambda gear: gear.name)
def test_a_gear_jams_once_its_far_edge_falls_into_the_mouth(gear):
    cell = trial(gear.name)
    overhang_m = gear.tip_radius_m - cell.slot.top_radius_m
    for direction in DIRECTIONS_RAD:
        assert cell.release(overhang_m - 0.0003, direction).seated
        for beyond_m in (0.0015, 0.004):
            outcome = cell.release(overhang_m + beyond_m, direction)
            assert not outcome.seated, outcome
            assert np.radians(3) < outcome.tilt_rad < np.radians(15)
            assert cell.seat_m + 0.002 < outcome.height_m < cell.tray.thickness_m - 0.004
            assert outcome.penetration_m < 2e-4
            assert outcome.asleep


@pytest.mark.parametrize("offset_mm", [5, 8, 11])
def test_the_small_gear_slides_in_from_all_over_the_mouth(offset_mm):
    for direction in DIRECTIONS_RAD:
        assert trial("small_gear").release(offset_mm / 1000, direction).seated


@gears
@pytest.mark.parametrize("offset_mm", [15, 18])
def test_beyond_the_mouth_a_gear_leans_on_the_rim(gear, offset_mm):
    cell = trial(gear.name)
    for direction in DIRECTIONS_RAD:
        outcome = cell.release(offset_mm / 1000, direction)
        assert not outcome.seated
        assert outcome.offset_m > 0.010
        assert outcome.tilt_rad > np.radians(10)
        assert outcome.height_m > cell.seat_m + 0.005
        assert outcome.penetration_m < 2e-4
        assert outcome.asleep


@pytest.mark.parametrize(
    ("offset_mm", "expected"),
    [(0, "seated"), (2, "seated"), (5, "seated"), (8, "jammed"), (12, "on top"), (20, "on top")],
)
def test_a_flat_gear_in_a_straight_slot_jams_at_eight_millimetres(offset_mm, expected):
    cell = trial("flat_gear")
    for direction in DIRECTIONS_RAD:
        outcome = cell.release(offset_mm / 1000, direction)
        flat = outcome.tilt_rad < np.radians(2)
        on_top = flat and abs(outcome.height_m - cell.tray.thickness_m) < 5e-4
        found = "seated" if outcome.seated and not on_top else "on top" if on_top else "jammed"
        assert found == expected, outcome
        assert outcome.penetration_m < 2e-4


@cache
def plug_trial(gear: str, clearance_mm: float) -> Trial:
    """A plug and a clamped kit tray, with the longest step that its clearance allows."""
    plugs = {plug.sku: plug.cone_bottom_radius_m for plug in PLUG_GEARS.values()}
    tray = with_clearance(KIT_M2L1_PLUG_TRAY, plugs, clearance_mm / 1000, 0.001)
    made = Trial(tray, PLUG_GEARS[gear], next(slot for slot in tray.slots if slot.accepts == PLUG_GEARS[gear].sku))
    made.model.opt.timestep = coarsest_step_s(clearance_mm / 1000)
    made.model.body("tray/tray").mass, made.model.body("tray/tray").inertia = 100.0, [10.0, 10.0, 10.0]  # as if clamped
    return made


plugs = pytest.mark.parametrize("gear", [MEDIUM_PLUG_GEAR, LARGE_PLUG_GEAR], ids=lambda gear: gear.name)


@plugs
@pytest.mark.parametrize("clearance_mm", [1.0, 0.5, 0.2])
def test_a_plug_let_go_in_line_goes_down_to_the_floor(gear, clearance_mm):
    cell = plug_trial(gear.name, clearance_mm)
    for direction in DIRECTIONS_RAD[::4]:
        outcome = cell.release(0.4 * clearance_mm / 1000, direction)
        assert outcome.height_m == pytest.approx(cell.slot.floor_m, abs=2e-5)
        assert outcome.offset_m < clearance_mm / 2000 + 5e-5
        assert outcome.penetration_m < 1e-5


@pytest.mark.parametrize(("gear", "clearance_mm"), [("medium_plug_gear", 0.5), ("medium_plug_gear", 0.2)])
def test_a_plug_let_go_three_millimetres_off_stays_on_the_rim(gear, clearance_mm):
    cell = plug_trial(gear, clearance_mm)
    for direction in DIRECTIONS_RAD[::2]:
        outcome = cell.release(0.003, direction)
        assert outcome.height_m > cell.seat_m + 0.003
        assert outcome.penetration_m < 6e-5


@plugs
@pytest.mark.parametrize("clearance_mm", [1.0, 0.5, 0.2])
def test_a_plug_pressed_against_its_wall_with_5_newtons_hardly_overlaps_it(gear, clearance_mm):
    cell = plug_trial(gear.name, clearance_mm)
    body, steps = cell.model.body("gear/part").id, round(0.3 / cell.model.opt.timestep)
    for direction in DIRECTIONS_RAD[:2]:
        cell.put(0.0, 0.0, cell.slot.floor_m)
        depths = []
        for step in range(steps):
            push = 5.0 * min(1.0, 2 * step / steps) * np.array([np.cos(direction), np.sin(direction), 0.0])
            lever = np.array([0.0, 0.0, cell.slot.floor_m + 0.006 - cell.data.xipos[body][2]])  # half the plug's height
            cell.data.xfrc_applied[body] = [*push, *np.cross(lever, push)]
            mujoco.mj_step(cell.model, cell.data)
            depths.append(cell.depth_m())
        cell.data.xfrc_applied[body] = 0.0
        assert depths[-1] < 1e-5
        assert np.percentile(depths, 95) < 6e-5


@gears
@pytest.mark.parametrize("overlap_mm", [1, 3, 6])
def test_a_gear_forced_into_the_trays_material_is_pushed_out_gently(gear, overlap_mm):
    cell = trial(gear.name)
    for direction in DIRECTIONS_RAD[::2]:
        cell.put(overlap_mm / 1000, direction, cell.seat_m)
        assert cell.depth_m() > 0.6 * overlap_mm / 1000
        outcome = cell.settle()
        assert outcome.seated, outcome
        assert outcome.penetration_m < 2e-4
        assert outcome.speed_mps < 0.75
    cell.put(0.0, 0.0, cell.seat_m - overlap_mm / 1000)
    outcome = cell.settle()
    assert outcome.seated
    assert outcome.penetration_m < 2e-4
    assert outcome.speed_mps < 0.75


def full_tray(tray):
    spec = new_world()
    add(spec, build_tray(tray), "tray/", (0, 0, 0))
    for number, slot in enumerate(tray.slots):
        gear = GEAR_OF[slot.accepts]
        position = (*slot.xy_m, seated_height_m(tray, slot, gear) + 0.002)
        add(spec, build_gear(gear), f"gear{number}/", position, yaw_rad=0.7 * number)
    model = spec.compile()
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("tray", TRAYS.values(), ids=list(TRAYS))
def test_a_full_tray_falls_asleep_and_stays_so(tray):
    model, data = full_tray(tray)
    contacts = gear_pairs = 0
    while data.time < 1.0 and not (data.tree_asleep[: model.ntree] >= 0).all():
        mujoco.mj_step(model, data)
        if data.ncon:
            contacts = data.ncon
            gear_pairs = np.sum((model.geom_bodyid[data.contact.geom] > 1).all(axis=1))
    assert data.time < 0.3
    assert contacts <= 4 + 16 * len(tray.slots)
    assert gear_pairs == 0
    before = data.qpos.copy()
    for _ in range(500):
        mujoco.mj_step(model, data)
        assert (data.tree_asleep[: model.ntree] >= 0).all()
    assert np.array_equal(data.qpos, before)


def test_without_sleep_a_seated_gear_does_not_creep():
    model, data = full_tray(TRAYS["kit_m2l1_tray"])
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    mujoco.mj_step(model, data, 250)
    before = data.qpos.copy()
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.qpos - before).max() < 1e-4
    assert np.abs(data.qvel).max() < 1e-4


def test_an_empty_tray_stands_on_four_points():
    spec = new_world()
    add(spec, build_tray(MEDIUM_GEAR_TRAY), "tray/", (0, 0, 0.001), yaw_rad=0.3)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 25)
    assert data.ncon == 4
    assert data.body("tray/tray").xpos[2] == pytest.approx(0.0, abs=2e-5)


@gears
def test_mass_and_inertia_are_those_of_the_figures(gear):
    model = build_gear(gear).compile()
    assert model.body("part").mass[0] == pytest.approx(gear.mass_kg)
    assert model.njnt == 0
    assert model.site("grasp").pos == pytest.approx([0, 0, gear.grasp_height_m])
    solid_cylinder = gear.mass_kg * gear.tip_radius_m**2 / 2
    assert 0.3 * solid_cylinder < model.body("part").inertia.max() < solid_cylinder
