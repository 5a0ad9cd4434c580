"""Pictures of the ROVI cell for tests of stereo."""

import pytest

from cellwright.core.pose import Pose
from cellwright.perception.stereo import Workspace

BOTTLE_XY_M = (0.55, 1.00)
TABLE = Workspace((0.0, 0.9), (0.8, 1.2), 0.75)


def upright(x_m, y_m, yaw_rad=0.0, z_m=0.75):
    return Pose.from_xyz_rpy([x_m, y_m, z_m], [0, 0, yaw_rad])


@pytest.fixture(scope="session")
def scene():
    pytest.importorskip("numba", reason="the extra `cameras` is not installed")
    pytest.importorskip("cv2", reason="the extra `vision` is not installed")
    from cellwright.experiments.stereo_scenes import StereoScene

    return StereoScene()


@pytest.fixture(scope="session")
def bottle_pair(scene):
    scene.arrange({"bottle": upright(*BOTTLE_XY_M)})
    return scene.take()


@pytest.fixture(scope="session")
def empty_pair(scene):
    scene.arrange({"bottle": upright(0.3, 0.1)})
    return scene.take()
