"""Versions that a result depends on besides its seed."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from cellwright import __version__

__all__ = ["all_versions", "model_hash", "versions"]

PACKAGES = ("mujoco-core", "numpy", "ruckig", "eaik", "rosbags", "mcap")


def versions() -> dict[str, str]:
    """Returns versions of the packages that decide the numbers."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def all_versions() -> dict[str, str]:
    """Returns the same with our own version before them."""
    return {"cellwright": __version__, **versions()}


def model_hash(model: Any) -> str:
    """Returns a short fingerprint of a compiled model: its bodies, geometry and limits, as bytes."""
    digest = hashlib.blake2b(digest_size=12)
    for name in (
        "body_pos",
        "body_quat",
        "body_mass",
        "body_inertia",
        "geom_size",
        "geom_pos",
        "jnt_range",
        "mesh_vert",
    ):
        digest.update(np.ascontiguousarray(getattr(model, name)).tobytes())
    return digest.hexdigest()
