"""A test of whether OpenGL works here, without risk for the process that asks."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["GL_PLATFORMS", "ProbeResult", "probe"]

GL_PLATFORMS = {"egl": ("libegl1", "libgl1-mesa-dri"), "osmesa": ("libosmesa6",)}
"""Ways to OpenGL without a display, in the order they are tried, with the Debian packages that bring them."""

GL_CHECK = Path(__file__).with_name("gl_check.py")
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class ProbeResult:
    """The answer of a probe, and its reason in one line."""

    works: bool
    reason: str


@functools.cache
def probe(platform: str, *, script: Path = GL_CHECK, timeout_s: float = TIMEOUT_S) -> ProbeResult:
    """Tests a platform in a process of its own; the answer holds for the life of this process."""
    if not sys.platform.startswith("linux"):
        return ProbeResult(False, f"{platform} is tried on Linux only")
    # MuJoCo must not choose a platform itself: it would fail on import where its choice does not work.
    environment = {**os.environ, "MUJOCO_GL": "disable"}
    try:
        done = subprocess.run(
            [sys.executable, str(script), platform], env=environment, capture_output=True, text=True, timeout=timeout_s
        )
    except subprocess.TimeoutExpired:
        return ProbeResult(False, f"no picture after {timeout_s:g} s")
    except OSError as error:
        return ProbeResult(False, f"cannot start a process: {error.strerror}")
    if done.returncode == 0 and done.stdout == "ok":
        return ProbeResult(True, "drew a picture")
    if done.returncode < 0:
        return ProbeResult(False, f"the driver crashed ({signal.Signals(-done.returncode).name})")
    return ProbeResult(False, _last_line(done.stdout) or _last_line(done.stderr) or f"exit code {done.returncode}")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
