"""The fit of solids of any shape, and what is known of their turn."""

import numpy as np
import pytest

from cellwright.catalogue.rovi_objects import BOTTLE, COFFEE_CAN, CRATE, CUBE, MILK_CARTON, MUG
from cellwright.core.errors import BadInput
from cellwright.perception.pose_measurement import MeasurementStatus
from cellwright.perception.stereo import FastStereo, SoughtModel, model_of
from cellwright.perception.stereo.hypotheses import UprightPose, visible
from cellwright.perception.stereo.solid_fit import fit_solid
from cellwright.perception.stereo.sought_model import STEP_M
from cellwright.shapes.mesh import cuboid, lathe

from .conftest import TABLE, upright

pytest.importorskip("scipy", reason="the extra `vision` is not installed")
EYE = np.array([0.4, 1.4, 0.75])


@pytest.mark.parametrize(
    ("figures", "period_rad"),
    [(BOTTLE, 0.0), (CUBE, np.pi / 2), (CRATE, np.pi), (MILK_CARTON, np.pi), (MUG, 2 * np.pi), (COFFEE_CAN, 2 * np.pi)],
)
def test_how_often_a_shape_repeats_is_found_where_nothing_is_told(figures, period_rad):
    assert model_of(figures).period_rad == pytest.approx(period_rad)


def test_a_mesh_without_symmetry_information_gets_its_own():
    assert SoughtModel("rod", lathe([(0.03, 0.0), (0.03, 0.1)], 64)).period_rad == 0.0
    assert SoughtModel("bar", cuboid((-0.05, -0.02, 0), (0.05, 0.02, 0.1))).period_rad == pytest.approx(np.pi)


@pytest.mark.parametrize("size_m", [(0.1, 0.1, 0.004), (9.0, 0.1, 0.1)])
def test_what_dense_stereo_cannot_find_is_refused(size_m):
    with pytest.raises(BadInput, match="box"):
        SoughtModel("box", cuboid((0, 0, 0), size_m))


def test_only_what_is_before_is_visible():
    model = model_of(MUG)
    points, normals = model.surface
    seen = visible(model.surface, np.array([0.0, 0.5, 0.8]), STEP_M)
    outside = (np.hypot(points[:, 0], points[:, 1]) > 0.0465) & (np.abs(points[:, 0]) < 0.03)  # no handle
    assert seen[outside & (normals[:, 1] > 0.9)].mean() > 0.9
    assert not seen[outside & (normals[:, 1] < -0.5)].any()


@pytest.mark.parametrize("figures", [MILK_CARTON, COFFEE_CAN])
def test_points_of_the_side_that_is_seen_give_place_and_turn(figures):
    model = model_of(figures)
    pose = UprightPose(0.45, 1.02, 0.4)
    in_world = pose.in_world(0.0)
    seen = visible(model.surface, in_world.inverse().apply(EYE), STEP_M)
    points = in_world.apply(model.surface[0][seen])
    points = points[points[:, 2] > 0.01] + np.random.default_rng(0).normal(
        0, 0.001, (int((points[:, 2] > 0.01).sum()), 3)
    )
    fit = fit_solid(model, points, UprightPose(0.456, 1.013, 0.25), EYE)
    assert fit is not None
    assert (fit[0].x_m, fit[0].y_m) == pytest.approx((0.45, 1.02), abs=5e-4)
    assert fit[0].yaw_rad == pytest.approx(0.4, abs=0.02)


@pytest.mark.slow
def test_can_carton_and_mug_are_found_by_their_models(scene):
    from cellwright.experiments.stereo_scenes import with_gaussian

    for name, figures in (("can", COFFEE_CAN), ("mug", MUG)):
        scene.arrange({"bottle": upright(0.3, 0.12), name: upright(0.42, 1.05, 0.3)})
        found = FastStereo(model_of(figures), TABLE).locate(*with_gaussian(scene.take(), 15, np.random.default_rng(0)))
        scene.arrange({name: upright(0.1, 0.15, z_m=0.74)})
        assert found.status is MeasurementStatus.FOUND, found.reason
        assert np.hypot(*(found.pose_in_world.position[:2] - (0.42, 1.05))) < 0.004
        assert np.isinf(found.variances[5]) or abs(found.pose_in_world.rpy[2] - 0.3) < 0.15


@pytest.mark.slow
def test_a_can_is_not_taken_for_a_bottle(scene):
    scene.arrange({"bottle": upright(0.3, 0.12), "can": upright(0.55, 1.0, 0.7)})
    found = FastStereo(model_of(BOTTLE), TABLE).locate(*scene.take())
    scene.arrange({"can": upright(0.1, 0.15, z_m=0.74)})
    assert found.status is not MeasurementStatus.FOUND
