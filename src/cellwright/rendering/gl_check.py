"""Draws one small picture through an OpenGL platform and prints `ok`: run as a script, in a process that may die.

A broken driver does not raise, it ends the process; so the check is a process of its own. It needs MuJoCo only, so
that it starts fast and blames nothing else.
"""

from __future__ import annotations

import importlib
import sys

import mujoco
import numpy as np

SIZE = 32
SCENE = """<mujoco><visual><headlight ambient="1 1 1"/></visual>
<worldbody><geom type="sphere" size="1" rgba="1 0 0 1"/></worldbody></mujoco>"""


def main(platform: str) -> None:
    """Draws a red ball and checks that its middle is red."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    try:
        gl = importlib.import_module(f"mujoco.{platform}").GLContext(SIZE, SIZE)
    except AttributeError:  # PyOpenGL's way of saying so
        sys.exit(f"the library of {platform} was not found")
    gl.make_current()
    context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
    camera, scene = mujoco.MjvCamera(), mujoco.MjvScene(model, maxgeom=10)
    camera.distance = 4.0
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene)
    picture, window = np.zeros((SIZE, SIZE, 3), dtype=np.uint8), mujoco.MjrRect(0, 0, SIZE, SIZE)
    mujoco.mjr_render(window, scene, context)
    mujoco.mjr_readPixels(picture, None, window, context)
    context.free()
    gl.free()
    red, green, _ = picture[SIZE // 2, SIZE // 2]
    sys.stdout.write("ok" if red > 100 > green else f"drew a red ball with the colour {picture[SIZE // 2, SIZE // 2]}")


if __name__ == "__main__":
    main(sys.argv[1])
