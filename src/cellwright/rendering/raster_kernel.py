"""Triangles and planes to a depth buffer, by compiled code.

All in one file, because numba, which keeps compiled code on disk, notices only changes of the file itself. Importing it
needs numba. Numbers are read one by one from packed tables: slices and long lists of arguments cost most of the time.

Depth is a number `w` that is affine in the picture and larger for what is nearer: 1 / z of a pinhole, -z of parallel
light. A triangle fills the samples whose middles it covers; those of two that share an edge are filled once. Samples
are filled in the order of the triangles, each by the same arithmetic whatever band of the picture it is in: the same
bits with any number of threads.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

__all__ = ["bounds", "fill", "lay_planes", "place", "project", "reach", "set_up"]

SPAN = 10  # numbers of a triangle that is ready to be filled: corners by height, w = a + b x + c y, its number
LEAST_AREA = 1e-9


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written: compile anew in every process
        return njit(nogil=True, error_model="numpy")(function)


@_compiled
def place(local, vertex_geom, frames, world):
    """Places vertices in the world; a row of `frames` is a geom's rotation, row by row, and its position."""
    for i in range(local.shape[0]):
        g = vertex_geom[i]
        x, y, z = local[i, 0], local[i, 1], local[i, 2]
        world[i, 0] = frames[g, 0] * x + frames[g, 1] * y + frames[g, 2] * z + frames[g, 9]
        world[i, 1] = frames[g, 3] * x + frames[g, 4] * y + frames[g, 5] * z + frames[g, 10]
        world[i, 2] = frames[g, 6] * x + frames[g, 7] * y + frames[g, 8] * z + frames[g, 11]


@_compiled
def project(world, lens, seen):
    """Writes x, y, z in the lens's frame and column, row, w of every vertex.

    A lens is packed: origin, right, up and forward (12 numbers), focal length in samples to the right and upwards,
    column and row of its axis, nearest z, and 1 for a pinhole or 0 for parallel light.
    """
    for i in range(world.shape[0]):
        dx, dy, dz = world[i, 0] - lens[0], world[i, 1] - lens[1], world[i, 2] - lens[2]
        x = lens[3] * dx + lens[4] * dy + lens[5] * dz
        y = lens[6] * dx + lens[7] * dy + lens[8] * dz
        z = lens[9] * dx + lens[10] * dy + lens[11] * dz
        seen[i, 0], seen[i, 1], seen[i, 2] = x, y, z
        if lens[17] == 1.0:
            inverse = 1.0 / z if z > 1e-9 else 0.0
            seen[i, 3], seen[i, 4], seen[i, 5] = (
                lens[14] + lens[12] * x * inverse,
                lens[15] - lens[13] * y * inverse,
                inverse,
            )
        else:
            seen[i, 3], seen[i, 4], seen[i, 5] = lens[14] + lens[12] * x, lens[15] - lens[13] * y, -z


@_compiled
def _ready(spans, count, width, height, side, number, xa, ya, wa, xb, yb, wb, xc, yc, wc):
    """Adds a triangle to those that are to be filled, if it shows the side that is wanted and is in the picture."""
    area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
    if side * area > -LEAST_AREA:
        return count
    if max(xa, xb, xc) <= 0.5 or min(xa, xb, xc) >= width or max(ya, yb, yc) <= 0.5 or min(ya, yb, yc) >= height:
        return count
    b = ((wb - wa) * (yc - ya) - (wc - wa) * (yb - ya)) / area
    c = ((xb - xa) * (wc - wa) - (xc - xa) * (wb - wa)) / area
    a = wa - b * xa - c * ya
    if ya > yb:
        xa, ya, xb, yb = xb, yb, xa, ya
    if yb > yc:
        xb, yb, xc, yc = xc, yc, xb, yb
    if ya > yb:
        xa, ya, xb, yb = xb, yb, xa, ya
    if math.ceil(ya - 0.5) == math.ceil(yc - 0.5):
        return count  # between two rows of samples
    spans[count, 0], spans[count, 1], spans[count, 2] = xa, ya, xb
    spans[count, 3], spans[count, 4], spans[count, 5] = yb, xc, yc
    spans[count, 6], spans[count, 7], spans[count, 8], spans[count, 9] = a, b, c, number
    return count + 1


@_compiled
def set_up(faces, wanted, which, seen, lens, width, height, side, spans):
    """Makes spans of the triangles with `wanted == which` and returns their count; those that reach behind are cut.

    `side` is 1 for front faces, -1 for back faces.
    """
    count = 0
    near = lens[16]
    for t in range(faces.shape[0]):
        if wanted[t] != which:
            continue
        i, j, k = faces[t, 0], faces[t, 1], faces[t, 2]
        behind = 0
        if lens[17] == 1.0:
            behind = int(seen[i, 2] < near) + int(seen[j, 2] < near) + int(seen[k, 2] < near)
        if behind == 0:
            count = _ready(
                spans, count, width, height, side, t,
                seen[i, 3], seen[i, 4], seen[i, 5],
                seen[j, 3], seen[j, 4], seen[j, 5],
                seen[k, 3], seen[k, 4], seen[k, 5],
            )  # fmt: skip
            continue
        if behind == 3:
            continue
        is_odd = behind == 1  # whether the corner that is alone on its side is the one behind
        if (seen[j, 2] < near) == is_odd:
            i, j, k = j, k, i
        elif (seen[k, 2] < near) == is_odd:
            i, j, k = k, i, j
        xj, yj, wj = _cut(seen, i, j, lens)
        xk, yk, wk = _cut(seen, i, k, lens)
        if behind == 2:
            count = _ready(
                spans, count, width, height, side, t, seen[i, 3], seen[i, 4], seen[i, 5], xj, yj, wj, xk, yk, wk
            )
        else:
            count = _ready(
                spans, count, width, height, side, t,
                xj, yj, wj, seen[j, 3], seen[j, 4], seen[j, 5], seen[k, 3], seen[k, 4], seen[k, 5],
            )  # fmt: skip
            count = _ready(
                spans, count, width, height, side, t, xj, yj, wj, seen[k, 3], seen[k, 4], seen[k, 5], xk, yk, wk
            )
    return count


@_compiled
def _cut(seen, i, j, lens):
    """Returns column, row and w of the point in which an edge meets the nearest plane."""
    share = (lens[16] - seen[i, 2]) / (seen[j, 2] - seen[i, 2])
    x = seen[i, 0] + share * (seen[j, 0] - seen[i, 0])
    y = seen[i, 1] + share * (seen[j, 1] - seen[i, 1])
    inverse = 1.0 / lens[16]
    return lens[14] + lens[12] * x * inverse, lens[15] - lens[13] * y * inverse, inverse


@_compiled
def lay_planes(planes, nearest, number, first_row, last_row):
    """Fills samples with planes, which may be endless.

    A plane is packed: w = a + b x + c y; along its two axes the eye's coordinate, the way of a ray as e + f x + g y,
    and half its length, 0 for none; its number.
    """
    for p in range(planes.shape[0]):
        for row in range(first_row, last_row):
            y = row + 0.5
            w_row = planes[p, 0] + planes[p, 2] * y
            u_row = planes[p, 4] + planes[p, 6] * y
            v_row = planes[p, 9] + planes[p, 11] * y
            for column in range(nearest.shape[1]):
                x = column + 0.5
                w = np.float32(w_row + planes[p, 1] * x)
                if w <= nearest[row, column] or w <= 0.0:
                    continue
                if planes[p, 7] > 0.0 and abs(planes[p, 3] + (u_row + planes[p, 5] * x) / w) > planes[p, 7]:
                    continue
                if planes[p, 12] > 0.0 and abs(planes[p, 8] + (v_row + planes[p, 10] * x) / w) > planes[p, 12]:
                    continue
                nearest[row, column] = w
                number[row, column] = int(planes[p, 13])


@_compiled
def fill(spans, count, nearest, number, first_row, last_row):
    """Fills the samples in a band of rows with what is nearest; an empty `number` leaves out whose depth it is."""
    width, is_named = nearest.shape[1], number.shape[0] > 0
    for s in range(count):
        ya, yc = spans[s, 1], spans[s, 5]
        top, bottom = max(first_row, math.ceil(ya - 0.5)), min(last_row, math.ceil(yc - 0.5))
        if top >= bottom:
            continue
        xa, xb, yb, xc = spans[s, 0], spans[s, 2], spans[s, 3], spans[s, 4]
        a, b, c, name = spans[s, 6], spans[s, 7], spans[s, 8], int(spans[s, 9])
        long_slope = (xc - xa) / (yc - ya)
        upper_slope = (xb - xa) / (yb - ya) if yb > ya else 0.0
        lower_slope = (xc - xb) / (yc - yb) if yc > yb else 0.0
        for row in range(top, bottom):
            y = row + 0.5
            one = xa + (y - ya) * long_slope
            other = xa + (y - ya) * upper_slope if y < yb else xb + (y - yb) * lower_slope
            left, right = min(one, other), max(one, other)
            start = max(0, math.ceil(left - 0.5))
            end = min(width, math.ceil(right - 0.5))
            w_row = a + c * y
            for column in range(start, end):
                w = np.float32(w_row + b * (column + 0.5))
                if w > nearest[row, column]:
                    nearest[row, column] = w
                    if is_named:
                        number[row, column] = name


@_compiled
def reach(seen):
    """Returns least and greatest column and row of vertices that `project` has written."""
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for i in range(seen.shape[0]):
        low_x, high_x = min(low_x, seen[i, 3]), max(high_x, seen[i, 3])
        low_y, high_y = min(low_y, seen[i, 4]), max(high_y, seen[i, 4])
    return low_x, low_y, high_x, high_y


@_compiled
def bounds(nearest, eye, light, first_row, last_row):
    """Returns least and greatest column and row, in a light's picture, of what a pinhole's samples show in some rows.

    `eye` and `light` are packed lenses; a light's focal lengths are 1 and its axis is at 0, 0.
    """
    low_x, low_y, high_x, high_y = 1e30, 1e30, -1e30, -1e30
    for row in range(first_row + first_row % 2, last_row, 2):
        up = (eye[15] - row - 0.5) / eye[13]
        for column in range(0, nearest.shape[1], 2):
            w = nearest[row, column]
            if w <= 0.0:
                continue
            right = (column + 0.5 - eye[14]) / eye[12]
            z = 1.0 / w
            dx = eye[0] + z * (eye[3] * right + eye[6] * up + eye[9]) - light[0]
            dy = eye[1] + z * (eye[4] * right + eye[7] * up + eye[10]) - light[1]
            dz = eye[2] + z * (eye[5] * right + eye[8] * up + eye[11]) - light[2]
            x = light[3] * dx + light[4] * dy + light[5] * dz
            y = light[6] * dx + light[7] * dy + light[8] * dz
            if light[17] == 1.0:
                depth = light[9] * dx + light[10] * dy + light[11] * dz
                if depth < light[16]:
                    continue
                x, y = x / depth, y / depth
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, -y), max(high_y, -y)
    return low_x, low_y, high_x, high_y
