"""Constraints that close loops, as ball joints of links that hang on another joint already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import JointDescription, JointKind

__all__ = ["read_loops"]


def read_loops(compiled: Any, links: Mapping[int, str], prefix: str) -> list[JointDescription]:
    """Returns the `connect` constraints between some links, which hold a point of one at a point of the other.

    Args:
        compiled: A compiled specification.
        links: Number of a body -> its link, for those that are asked for.
        prefix: The prefix that is removed from names.
    """
    if mujoco.mjtEq.mjEQ_CONNECT not in compiled.eq_type:
        return []
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    found = []
    for eq in range(compiled.neq):
        if compiled.eq_type[eq] != mujoco.mjtEq.mjEQ_CONNECT or not compiled.eq_active0[eq]:
            continue
        (parent, there), (child, here) = _ends(compiled, eq)
        if parent not in links or child not in links:
            continue
        turn = data.xmat[parent].reshape(3, 3).T @ data.xmat[child].reshape(3, 3)
        pose = Pose.from_matrix(np.column_stack([turn, there - turn @ here]))
        name = f"{compiled.equality(eq).name.removeprefix(prefix) or eq}_loop"
        found.append(
            JointDescription(
                name=name,
                kind=JointKind.BALL,
                parent=links[parent],
                child=links[child],
                pose=pose,
                anchor_m=tuple(here.tolist()),
            )
        )
    return found


def _ends(compiled: Any, eq: int) -> list[tuple[int, Any]]:
    """Returns body and point in its frame, of both ends."""
    first, second = int(compiled.eq_obj1id[eq]), int(compiled.eq_obj2id[eq])
    if compiled.eq_objtype[eq] == mujoco.mjtObj.mjOBJ_SITE:
        return [(int(compiled.site_bodyid[site]), compiled.site_pos[site].copy()) for site in (first, second)]
    return [(first, compiled.eq_data[eq, :3].copy()), (second, compiled.eq_data[eq, 3:6].copy())]
