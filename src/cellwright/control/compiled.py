"""Control laws as machine code, called by the stepper between physics steps without any Python."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from cellwright.control import laws
from cellwright.control.control_block import BLOCK
from cellwright.core.errors import MissingExtra

__all__ = ["compiled_tick"]


@cache
def compiled_tick(law: str) -> Any:
    """Returns the tick of a law as a C function ``void f(const mjModel*, mjData*, block*)`` with its `.address`."""
    numba = _numba(law)
    functions = _translate(numba)
    pointer = _make_pointer()
    carray, control, through_play = numba.carray, functions[law], functions["through_play"]
    row = numba.from_dtype(BLOCK)

    def tick(model, data, user):  # type: ignore[no-untyped-def]
        block = carray(user, 1)[0]
        joints = block["joints"]
        position = carray(pointer(block["qpos"]), joints, np.float64) - block["zeros"][:joints]
        velocity = carray(pointer(block["qvel"]), joints, np.float64)
        at = min(block["count"], block["rows"] - 1)
        reference = carray(pointer(block["reference"] + at * 24 * joints), (3, joints), np.float64)
        if block["play"] != 0:
            play = carray(pointer(block["play"]), (5, joints), np.float64)
            motor, speed, wanted = through_play(play, position, velocity, reference)
            control(block, motor, speed, wanted)
        else:
            control(block, position, velocity, reference)
        ctrl = carray(pointer(block["ctrl"]), (joints, 3), np.float64)
        for k in range(joints):
            effort = min(max(block["effort"][k], -block["limits"][k]), block["limits"][k])
            block["effort"][k] = effort
            ctrl[k, 2] = effort
        block["count"] += 1

    signature = numba.types.void(numba.types.voidptr, numba.types.voidptr, numba.types.CPointer(row))
    return numba.cfunc(signature)(tick)


def _numba(law: str) -> Any:
    try:
        import numba
    except ImportError:
        raise MissingExtra(f"the controller '{law}'", "motion") from None
    return numba


@cache
def _translate(numba: Any) -> dict[str, Any]:
    """Compiles each law, in a namespace where the laws that it calls are compiled ones, too."""
    names: dict[str, Any] = dict(vars(laws))
    for function in laws.LAWS:
        names[function.__name__] = numba.njit(cache=True)(FunctionType(function.__code__, names))
    return names


@cache
def _make_pointer() -> Any:
    """Returns a compiled function that turns a number into a pointer."""
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def pointer(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return types.voidptr(address), generate

    return pointer
