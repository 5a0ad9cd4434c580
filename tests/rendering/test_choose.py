import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from cellwright.core import extras
from cellwright.core.errors import MissingExtra, UnknownName
from cellwright.rendering import available_renderers, choose, choose_renderer
from cellwright.rendering.probe import ProbeResult, probe

DRAW = """
from cellwright.rendering import View, choose_renderer
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size="1" rgba="1 0 0 1"/></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer = choose_renderer()
view = View(eye_in_world_m=(4, 0, 0))
picture = renderer.render(model, data, view, (64, 36))
print(renderer.name, picture[18, 32, 0] > 2 * picture[18, 32, 1])
"""


def draw(**variables: str) -> subprocess.CompletedProcess[str]:
    """Draws in a new process, because MuJoCo and PyOpenGL read their variables once."""
    environment = {k: v for k, v in os.environ.items() if k not in ("CELLWRIGHT_RENDERER", "MUJOCO_GL")}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.run([sys.executable, "-c", DRAW], env=environment, capture_output=True, text=True)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_ray_on_demand():
    assert last_line(draw(CELLWRIGHT_RENDERER="ray")) == "ray True"


@pytest.mark.parametrize("value", ["bogus", "egl", "osmesa"])
def test_mujocos_own_variable_cannot_break_a_picture(value):
    assert last_line(draw(CELLWRIGHT_RENDERER="ray", MUJOCO_GL=value)) == "ray True"


@pytest.mark.slow
def test_without_opengl_compiled_code_draws():
    assert last_line(draw(PYOPENGL_PLATFORM="glx")) == ("soft True" if find_spec("numba") else "ray True")


def test_without_numba_either_rays_are_drawn(monkeypatch):
    monkeypatch.setattr(choose, "has_extra", lambda *modules: False)
    monkeypatch.setattr(choose, "probe", lambda platform: ProbeResult(False, "no library"))
    monkeypatch.delenv("CELLWRIGHT_RENDERER", raising=False)
    assert choose_renderer().name == "ray"
    assert "cellwright[cameras]" in {status.name: status for status in available_renderers()}["soft"].reason
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    with pytest.raises(MissingExtra, match=r"the renderer 'soft' .*cellwright\[cameras\]"):
        choose_renderer("soft")


def test_pictures_on_which_something_is_decided_are_the_same_bits_where_opengl_works_too(monkeypatch):
    monkeypatch.setattr(choose, "has_extra", lambda *modules: True)
    monkeypatch.setattr(choose, "probe", lambda platform: ProbeResult(True, "works"))
    monkeypatch.setattr(choose, "_renderer", lambda name: name)
    monkeypatch.delenv("CELLWRIGHT_RENDERER", raising=False)
    assert choose_renderer() == "egl"
    assert choose_renderer(repeatable=True) == "soft"
    assert choose_renderer("gl", repeatable=True) == "egl"
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "gl")
    assert choose_renderer(repeatable=True) == "egl"


def test_opengl_asked_for_but_not_there():
    line = last_line(draw(CELLWRIGHT_RENDERER="gl", PYOPENGL_PLATFORM="glx"))
    assert "renderer 'gl' does not work here: egl: " in line
    assert "libegl1" in line
    assert "libosmesa6" in line


def test_unknown_renderer_lists_the_choices():
    with pytest.raises(UnknownName, match=r"unknown renderer 'vulkan' \(available: egl, gl, osmesa, ray, soft\)"):
        choose_renderer("vulkan")
    assert "CELLWRIGHT_RENDERER: unknown renderer 'rays'; did you mean 'ray'?" in last_line(
        draw(CELLWRIGHT_RENDERER="rays")
    )


def test_ray_is_always_available():
    statuses = {status.name: status for status in available_renderers()}
    assert list(statuses) == ["egl", "osmesa", "soft", "ray"]
    assert statuses["ray"].works
    for name in ("egl", "osmesa"):
        assert statuses[name].reason
        assert bool(statuses[name].debian_packages) != statuses[name].works


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os; os.kill(os.getpid(), 11)", r"the driver crashed \(SIGSEGV\)"),
        pytest.param("import time; time.sleep(60)", "no picture after 2 s", marks=pytest.mark.slow),
        ("raise ImportError('no device')", "ImportError: no device"),
        ("print('drew a red ball with the colour [0 0 0]')", "drew a red ball with the colour"),
        ("import sys; sys.exit(3)", "exit code 3"),
    ],
)
def test_probe_survives_what_a_driver_does(tmp_path, script, reason):
    check = tmp_path / "check.py"
    check.write_text(script)
    answer = probe("egl", script=check, timeout_s=2.0)
    assert not answer.works
    assert re.match(reason, answer.reason), answer.reason
