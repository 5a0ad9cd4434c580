"""Without the optional packages the rest of the project must not notice, and the error must help."""

import os
import subprocess
import sys

import pytest

SCENE = """
import sys
{before}
from cellwright.catalogue import ROBOTS
from cellwright.core.errors import MissingExtra
from cellwright.motion.planning import ExactChecker, MotionPlanner, MotionPlanRequest, SceneRobot, Scene
scene = Scene(SceneRobot(ROBOTS.get("lr_mate_200id")))
home = ROBOTS.get("lr_mate_200id").home_rad
"""


def run(code: str, before: str = "", **environment: str) -> str:
    """What a fresh interpreter prints, on either stream."""
    text = SCENE.format(before=before) + code
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return (done.stderr + done.stdout).strip()


def test_nothing_heavy_is_imported_before_it_is_used():
    heavy = run(
        "print([m for m in ('numba', 'ompl', 'llvmlite') if m in sys.modules], ExactChecker(scene).is_free(home))"
    )
    assert heavy == "[] True"


def test_without_numba_the_error_names_the_extra():
    code = "try:\n    MotionPlanner(scene)\nexcept MissingExtra as error:\n    print(error)"
    said = run(code, "sys.modules['numba'] = None")
    assert said == "collision-free planning needs an optional package: pip install 'cellwright[motion]'"


@pytest.mark.slow
def test_without_ompl_only_its_planners_are_missing():
    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    code = (
        "planner = MotionPlanner(scene)\n"
        "print(planner.plan(MotionPlanRequest(home, [home])).status)\n"
        "try:\n    planner.plan(MotionPlanRequest(home, [home], planner='ompl:RRT'))\n"
        "except MissingExtra as error:\n    print(error)"
    )
    said = run(code, "sys.modules['ompl'] = None").splitlines()
    assert said == ["success", "collision-free planning needs an optional package: pip install 'cellwright[motion]'"]


@pytest.mark.slow
def test_long_compilation_is_announced_and_its_result_is_kept(tmp_path, wall):
    code = "from cellwright.motion.planning import kernel_search"
    assert "compiling the motion planner, once for this version" in run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert run(code) == ""  # compiled before, for the planner of this test


@pytest.mark.slow
def test_without_a_place_to_keep_it_everything_still_works(tmp_path):
    pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
    (tmp_path / "file").touch()
    code = "from cellwright.motion.planning.kernel_search import next_random\nimport numpy as np\n"
    code += "print(next_random(np.array([1], np.uint64)))"
    said = run(code, NUMBA_CACHE_DIR=str(tmp_path / "file")).splitlines()
    assert 0 < float(said[-1]) < 1
