"""The light that leaves what is seen, pixel by pixel, by compiled code; see `raster_kernel.py` for how it is written.

Tables, one row each:

- materials: red, green, blue, opacity, gloss, shininess, emission, texture (-1 = none), 1 where it fades into the haze
- frames: a geom's rotation, row by row, and its position
- lights: 1 for a spot, axis, source, diffuse, specular, cosine and exponent of a spot, attenuation, shadow map (or -1)
- lenses: those of the shadow maps, as in `raster_kernel.py`
- textures: first number, height, width, scale and start of both axes, size of a pixel; the next row is the same texture
  at half its size, where that size is positive
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

__all__ = ["shade"]

LIFT_M = 5e-4  # how far above the surface it is asked whether light comes there
BIAS_M = 1e-3  # and how far behind something it must be
ALIKE = 0.99  # cosine: faces of a geom that turn by less are one surface
HAZE_M = (6.0, 30.0)  # where an endless floor begins to fade, and where it is gone


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written: compile anew in every process
        return njit(nogil=True, error_model="numpy")(function)


def _inlined(function: Callable[..., Any]) -> Any:
    """Puts a function into those that call it: to hand over that many tables takes as long as a fifth of its work."""
    return njit(nogil=True, error_model="numpy", inline="always")(function)


@_inlined
def _lit(maps, lenses, m, x, y, z):
    """Returns the share of a light that comes to a point past everything, from four points of its shadow map."""
    dx, dy, dz = x - lenses[m, 0], y - lenses[m, 1], z - lenses[m, 2]
    right = lenses[m, 3] * dx + lenses[m, 4] * dy + lenses[m, 5] * dz
    up = lenses[m, 6] * dx + lenses[m, 7] * dy + lenses[m, 8] * dz
    away = lenses[m, 9] * dx + lenses[m, 10] * dy + lenses[m, 11] * dz
    is_pinhole = lenses[m, 17] == 1.0
    if is_pinhole:
        if away < lenses[m, 16]:
            return 1.0
        right, up = right / away, up / away
    column, row = lenses[m, 14] + lenses[m, 12] * right - 0.5, lenses[m, 15] - lenses[m, 13] * up - 0.5
    i, j = math.floor(column), math.floor(row)
    if i < 0 or j < 0 or i + 1 >= maps.shape[2] or j + 1 >= maps.shape[1]:
        return 1.0
    fx, fy = column - i, row - j
    limit = 1.0 / (away - BIAS_M) if is_pinhole else BIAS_M - away
    share = 0.0
    if maps[m, j, i] <= limit:
        share += (1 - fx) * (1 - fy)
    if maps[m, j, i + 1] <= limit:
        share += fx * (1 - fy)
    if maps[m, j + 1, i] <= limit:
        share += (1 - fx) * fy
    if maps[m, j + 1, i + 1] <= limit:
        share += fx * fy
    return share


@_compiled
def _texel(pixels, textures, k, row, column, channel):
    height, width = int(textures[k, 1]), int(textures[k, 2])
    return pixels[int(textures[k, 0]) + 3 * ((row % height) * width + column % width) + channel]


@_compiled
def _sampled(pixels, textures, k, u, v, channel):
    """Returns a channel of a repeating texture, between four of its pixels."""
    column, row = (u - math.floor(u)) * textures[k, 2] - 0.5, (v - math.floor(v)) * textures[k, 1] - 0.5
    i, j = math.floor(column), math.floor(row)
    fx, fy = column - i, row - j
    top = _texel(pixels, textures, k, j, i, channel) * (1 - fx) + _texel(pixels, textures, k, j, i + 1, channel) * fx
    low = _texel(pixels, textures, k, j + 1, i, channel) * (1 - fx)
    low += _texel(pixels, textures, k, j + 1, i + 1, channel) * fx
    return top * (1 - fy) + low * fy


@_compiled
def _textured(pixels, textures, k, frames, g, x, y, z, footprint_m):
    """Returns the colour of a plane's texture at a point, from smaller ones where it is finer than the picture."""
    while textures[k, 7] > 0.0 and 2 * textures[k, 7] < footprint_m:
        k += 1
    dx, dy, dz = x - frames[g, 9], y - frames[g, 10], z - frames[g, 11]
    along = dx * frames[g, 0] + dy * frames[g, 3] + dz * frames[g, 6]
    across = dx * frames[g, 1] + dy * frames[g, 4] + dz * frames[g, 7]
    u, v = textures[k, 5] + along * textures[k, 3], textures[k, 6] - across * textures[k, 4]
    red, green, blue = (
        _sampled(pixels, textures, k, u, v, 0),
        _sampled(pixels, textures, k, u, v, 1),
        _sampled(pixels, textures, k, u, v, 2),
    )
    if 0.0 < textures[k, 7] < footprint_m:
        share = footprint_m / textures[k, 7] - 1
        red += share * (_sampled(pixels, textures, k + 1, u, v, 0) - red)
        green += share * (_sampled(pixels, textures, k + 1, u, v, 1) - green)
        blue += share * (_sampled(pixels, textures, k + 1, u, v, 2) - blue)
    return red, green, blue


@_inlined
def _colour(
    surface, ray_x, ray_y, ray_z, w, eye, faces, normals, geoms, world, frames, materials, lights, ambient,
    lenses, maps, textures, pixels, haze, slope, has_shadows,
):  # fmt: skip
    """Returns the light from a surface: a triangle's number, or -2 - geom for a plane."""
    z = 1.0 / w
    length = math.sqrt(ray_x * ray_x + ray_y * ray_y + ray_z * ray_z)
    px, py, pz = eye[0] + z * ray_x, eye[1] + z * ray_y, eye[2] + z * ray_z
    if surface >= 0:
        g = geoms[surface]
        a, b, c = faces[surface, 0], faces[surface, 1], faces[surface, 2]
        ax, ay, az = world[a, 0], world[a, 1], world[a, 2]
        ux, uy, uz = world[b, 0] - ax, world[b, 1] - ay, world[b, 2] - az
        vx, vy, vz = world[c, 0] - ax, world[c, 1] - ay, world[c, 2] - az
        fx, fy, fz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square = max(fx * fx + fy * fy + fz * fz, 1e-30)
        qx, qy, qz = px - ax, py - ay, pz - az
        second = ((qy * vz - qz * vy) * fx + (qz * vx - qx * vz) * fy + (qx * vy - qy * vx) * fz) / square
        third = ((uy * qz - uz * qy) * fx + (uz * qx - ux * qz) * fy + (ux * qy - uy * qx) * fz) / square
        first = min(max(1 - second - third, 0.0), 1.0)
        second, third = min(max(second, 0.0), 1.0), min(max(third, 0.0), 1.0)
        sx = first * normals[surface, 0] + second * normals[surface, 3] + third * normals[surface, 6]
        sy = first * normals[surface, 1] + second * normals[surface, 4] + third * normals[surface, 7]
        sz = first * normals[surface, 2] + second * normals[surface, 5] + third * normals[surface, 8]
        nx = frames[g, 0] * sx + frames[g, 1] * sy + frames[g, 2] * sz
        ny = frames[g, 3] * sx + frames[g, 4] * sy + frames[g, 5] * sz
        nz = frames[g, 6] * sx + frames[g, 7] * sy + frames[g, 8] * sz
        size = 1.0 / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
        nx, ny, nz = nx * size, ny * size, nz * size
        size = 1.0 / math.sqrt(square)
        fx, fy, fz = fx * size, fy * size, fz * size
    else:
        g = -2 - surface
        fx, fy, fz = frames[g, 2], frames[g, 5], frames[g, 8]
        nx, ny, nz = fx, fy, fz
    ex, ey, ez = -ray_x / length, -ray_y / length, -ray_z / length
    red, green, blue = materials[g, 0], materials[g, 1], materials[g, 2]
    if materials[g, 7] >= 0:
        slant = max(nx * ex + ny * ey + nz * ez, 0.05)
        footprint_m = z * length * slope / math.sqrt(slant)  # the mean of its length and its width
        tint_r, tint_g, tint_b = _textured(pixels, textures, int(materials[g, 7]), frames, g, px, py, pz, footprint_m)
        red, green, blue = red * tint_r, green * tint_g, blue * tint_b
    glow = materials[g, 6]
    lit_r, lit_g, lit_b = ambient[0] + glow, ambient[1] + glow, ambient[2] + glow
    shine_r = shine_g = shine_b = 0.0
    for i in range(lights.shape[0]):
        lx, ly, lz, strength = -lights[i, 1], -lights[i, 2], -lights[i, 3], 1.0
        if lights[i, 0] == 1.0:
            dx, dy, dz = px - lights[i, 4], py - lights[i, 5], pz - lights[i, 6]
            way = math.sqrt(dx * dx + dy * dy + dz * dz)
            cosine = -(dx * lx + dy * ly + dz * lz) / way
            lx, ly, lz = -dx / way, -dy / way, -dz / way
            if cosine < lights[i, 13]:
                continue
            strength = max(cosine, 0.0) ** lights[i, 14]
            strength /= lights[i, 15] + lights[i, 16] * way + lights[i, 17] * way * way
        facing = nx * lx + ny * ly + nz * lz
        if facing <= 0.0:
            continue
        if has_shadows and lights[i, 18] >= 0:
            lifted_x, lifted_y, lifted_z = px + LIFT_M * fx, py + LIFT_M * fy, pz + LIFT_M * fz
            strength *= _lit(maps, lenses, int(lights[i, 18]), lifted_x, lifted_y, lifted_z)
            if strength == 0.0:
                continue
        facing *= strength
        lit_r += facing * lights[i, 7]
        lit_g += facing * lights[i, 8]
        lit_b += facing * lights[i, 9]
        if materials[g, 4] > 0.0 and lights[i, 10] + lights[i, 11] + lights[i, 12] > 0.0:
            hx, hy, hz = lx + ex, ly + ey, lz + ez
            half = max(math.sqrt(hx * hx + hy * hy + hz * hz), 1e-6)
            glint, power = (nx * hx + ny * hy + nz * hz) / half, max(materials[g, 5] * 128, 1.0)
            if glint > 0.0 and power * (1 - glint) < 16:  # below that it is less than a ten millionth
                glint = glint**power * materials[g, 4] * strength
                shine_r += glint * lights[i, 10]
                shine_g += glint * lights[i, 11]
                shine_b += glint * lights[i, 12]
    red, green, blue = red * lit_r + shine_r, green * lit_g + shine_g, blue * lit_b + shine_b
    if materials[g, 8] > 0.0:
        share = min(max((z * length - HAZE_M[0]) / (HAZE_M[1] - HAZE_M[0]), 0.0), 1.0)
        share = share * share * (3 - 2 * share)
        red, green, blue = (
            red + share * (haze[0] - red),
            green + share * (haze[1] - green),
            blue + share * (haze[2] - blue),
        )
    return red, green, blue


@_compiled
def _sky(sky, x, y, z):
    """Returns the background: a row of `sky` is what is seen at the sides, above and below, by height or by slant."""
    largest = max(abs(x), abs(y), abs(z))
    size = sky.shape[1]
    if abs(z) < largest:
        part, where = 0, 0.5 - 0.5 * z / largest
    else:
        part, where = (1 if z > 0 else 2), 0.5 - 0.5 * max(abs(x), abs(y)) / largest
    i = min(max(int(where * size), 0), size - 1)
    return sky[part, i, 0], sky[part, i, 1], sky[part, i, 2]


@_compiled
def _turn(one, other, faces, world):
    """Returns the cosine between two triangles."""
    n = (0.0, 0.0, 0.0)
    m = (0.0, 0.0, 0.0)
    for t in range(2):
        s = one if t == 0 else other
        a, b, c = faces[s, 0], faces[s, 1], faces[s, 2]
        ux, uy, uz = world[b, 0] - world[a, 0], world[b, 1] - world[a, 1], world[b, 2] - world[a, 2]
        vx, vy, vz = world[c, 0] - world[a, 0], world[c, 1] - world[a, 1], world[c, 2] - world[a, 2]
        m = n
        n = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
    dot = n[0] * m[0] + n[1] * m[1] + n[2] * m[2]
    square = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
    return dot / max(math.sqrt(square), 1e-30)


@_compiled
def shade(
    nearest, number, glass_nearest, glass_number, lens, faces, normals, geoms, world, frames, materials, lights,
    ambient, lenses, maps, textures, pixels, haze, sky, exposure, samples, first_row, last_row, picture,
):  # fmt: skip
    """Writes the colours of the pixels in a band of rows; a pixel is `samples` (2 or 1) squared of the buffers.

    It is shaded once where its samples show one surface, else for each of them. The light is scaled by the exposure and
    averaged before it is cut off.
    """
    has_glass = glass_nearest.shape[0] > 0
    slope = samples / lens[12]
    for row in range(first_row, last_row):
        for column in range(picture.shape[1]):
            y, x = samples * row, samples * column
            low, right = y + samples - 1, x + samples - 1
            s0, s1, s2, s3 = number[y, x], number[y, right], number[low, x], number[low, right]
            w0, w1, w2, w3 = nearest[y, x], nearest[y, right], nearest[low, x], nearest[low, right]
            is_one = s0 == s1 and s0 == s2 and s0 == s3
            if not is_one and s0 >= 0 and s1 >= 0 and s2 >= 0 and s3 >= 0:
                is_one = (
                    geoms[s0] == geoms[s1] and geoms[s0] == geoms[s2] and geoms[s0] == geoms[s3]
                    and (s0 == s1 or _turn(s0, s1, faces, world) > ALIKE)
                    and (s0 == s2 or _turn(s0, s2, faces, world) > ALIKE)
                    and (s0 == s3 or _turn(s0, s3, faces, world) > ALIKE)
                )  # fmt: skip
            if has_glass:
                is_one = is_one and (
                    glass_number[y, x] == glass_number[y, right]
                    and glass_number[y, x] == glass_number[low, x]
                    and glass_number[y, x] == glass_number[low, right]
                )
            red = green = blue = 0.0
            for k in range(1 if is_one else 4):
                j, i = y + k // 2, x + k % 2
                if is_one:
                    sample_x, sample_y, w = x + samples / 2, y + samples / 2, (w0 + w1 + w2 + w3) / 4
                else:
                    sample_x, sample_y, w = i + 0.5, j + 0.5, nearest[j, i]
                across, up = (sample_x - lens[14]) / lens[12], (lens[15] - sample_y) / lens[13]
                ray_x = lens[9] + across * lens[3] + up * lens[6]
                ray_y = lens[10] + across * lens[4] + up * lens[7]
                ray_z = lens[11] + across * lens[5] + up * lens[8]
                surface = number[j, i]
                if surface == -1:
                    r, g, b = _sky(sky, ray_x, ray_y, ray_z)
                else:
                    r, g, b = _colour(
                        surface, ray_x, ray_y, ray_z, w, lens, faces, normals, geoms, world, frames, materials, lights,
                        ambient, lenses, maps, textures, pixels, haze, slope, True,
                    )  # fmt: skip
                if has_glass and glass_number[j, i] != -1 and glass_nearest[j, i] > nearest[j, i]:
                    pane = glass_number[j, i]
                    pr, pg, pb = _colour(
                        pane, ray_x, ray_y, ray_z, glass_nearest[j, i], lens, faces, normals, geoms, world, frames,
                        materials, lights, ambient, lenses, maps, textures, pixels, haze, slope, False,
                    )  # fmt: skip
                    alpha = materials[geoms[pane] if pane >= 0 else -2 - pane, 3]
                    r, g, b = r + alpha * (pr - r), g + alpha * (pg - g), b + alpha * (pb - b)
                red, green, blue = red + r, green + g, blue + b
            share = exposure if is_one else exposure / 4
            picture[row, column, 0] = np.uint8(min(max(red * share, 0.0), 1.0) * 255 + 0.5)
            picture[row, column, 1] = np.uint8(min(max(green * share, 0.0), 1.0) * 255 + 0.5)
            picture[row, column, 2] = np.uint8(min(max(blue * share, 0.0), 1.0) * 255 + 0.5)
