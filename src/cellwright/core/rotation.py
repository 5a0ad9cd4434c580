"""Rotations as unit quaternions w, x, y, z: the small formulas that `Pose` is made of."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_BACK = np.array([1.0, -1.0, -1.0, -1.0])
SMALL_ANGLE_RAD = 1e-4  # below it the Taylor series are more exact than the closed forms


def normalised(quaternion: Array) -> Array:
    """Returns the quaternion with unit length and w >= 0 (q and -q are the same rotation)."""
    if quaternion.shape != (4,):
        raise ValueError(f"a quaternion has 4 numbers, not {quaternion.shape}")
    length = math.sqrt(quaternion.dot(quaternion))
    if not 1e-12 <= length < math.inf:
        raise ValueError(f"not a rotation: quaternion {quaternion.tolist()}")
    # One that has unit length stays as it is: normalising twice must not change a bit.
    unit = quaternion + 0.0 if abs(length - 1.0) < 1e-15 else quaternion / length
    first = unit.item(0)
    if abs(first) < 1e-15:  # a half turn: of q and -q the one whose first clear number is positive
        unit[0] = 0.0
        return unit if unit[np.abs(unit) > 1e-15][0] > 0 else 0.0 - unit
    return unit if first > 0 else 0.0 - unit


def conjugate(quaternion: Array) -> Array:
    """Returns the inverse rotation."""
    back: Array = quaternion * _BACK
    return back


def multiply(a: Array, b: Array) -> Array:
    """Returns the rotation b followed by a."""
    aw, ax, ay, az = a.tolist()  # plain floats multiply several times faster than numpy's
    bw, bx, by, bz = b.tolist()
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def rotate(quaternion: Array, vector: Array) -> Array:
    """Returns the vector turned by the quaternion."""
    w, a, b, c = quaternion.tolist()
    x, y, z = vector.tolist()
    # t = 2 u x v, and v + w t + u x t; numpy's cross product of two vectors takes longer than all of this
    tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return np.array([x + w * tx + (b * tz - c * ty), y + w * ty + (c * tx - a * tz), z + w * tz + (a * ty - b * tx)])


def matrix_from_quaternion(q: Array) -> Array:
    """Returns the 3 x 3 rotation matrix of a unit quaternion."""
    w, x, y, z = q.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_matrix(m: Array) -> Array:
    """Returns the quaternion of a rotation matrix, by its largest component (Shepperd), exact near half turns."""
    if m.shape != (3, 3) or not _is_rotation(m):
        raise ValueError(f"not a rotation: matrix {m.tolist()} (its rows must be unit vectors, right-handed)")
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = m.tolist()  # plain floats are several times faster than numpy's
    trace = xx + yy + zz
    most = max(trace, xx, yy, zz)
    if most == trace:
        q = (1 + trace, zy - yz, xz - zx, yx - xy)
    elif most == xx:
        q = (zy - yz, 1 + 2 * xx - trace, xy + yx, xz + zx)
    elif most == yy:
        q = (xz - zx, xy + yx, 1 + 2 * yy - trace, yz + zy)
    else:
        q = (yx - xy, xz + zx, yz + zy, 1 + 2 * zz - trace)
    return normalised(np.array(q))


def _is_rotation(m: Array) -> bool:
    (a, b, c), (d, e, f), (g, h, i) = m.tolist()
    lengths = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
    products = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
    right = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) >= 0
    return right and all(abs(n - 1) <= 1e-6 for n in lengths) and all(abs(p) <= 1e-6 for p in products)


def quaternion_from_rpy(rpy: Array) -> Array:
    """Returns the rotation by roll about x, then pitch about y, then yaw about z, all fixed axes."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy / 2), np.sin(rpy / 2)
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def rpy_from_matrix(m: Array) -> Array:
    """Returns roll, pitch, yaw; at pitch = +-pi/2, where only their combination is defined, roll is 0."""
    level = np.hypot(m[2, 1], m[2, 2])
    roll = 0.0 if level < 1e-9 else np.arctan2(m[2, 1], m[2, 2])
    # Yaw is what is left when this roll is taken out: near pitch = +-pi/2 their errors then cancel.
    cos, sin = np.cos(roll), np.sin(roll)
    yaw = np.arctan2(m[0, 2] * sin - m[0, 1] * cos, m[1, 1] * cos - m[1, 2] * sin)
    return np.array([roll, np.arctan2(-m[2, 0], level), yaw])


def quaternion_from_vector(vector: Array) -> Array:
    """Returns the rotation by |vector| radians about its direction."""
    angle = math.sqrt(vector.dot(vector))
    half_sinc = 0.5 - angle**2 / 48 if angle < SMALL_ANGLE_RAD else np.sin(angle / 2) / angle
    return np.concatenate([[np.cos(angle / 2)], half_sinc * vector])


def vector_from_quaternion(q: Array) -> Array:
    """Returns the rotation vector, its length at most pi."""
    w, u = (q[0], q[1:]) if q[0] >= 0 else (-q[0], -q[1:])
    sine = math.sqrt(u.dot(u))
    angle = 2 * np.arctan2(sine, w)
    factor = 2 + angle**2 / 12 if angle < SMALL_ANGLE_RAD else angle / sine
    return np.asarray(factor * u)


def angle_between(a: Array, b: Array) -> float:
    """Returns the angle of the rotation that takes one to the other, 0 to pi; exact for small angles too."""
    difference = multiply(conjugate(a), b)
    axis = difference[1:]
    return float(2 * np.arctan2(math.sqrt(axis.dot(axis)), abs(difference.item(0))))


def left_jacobian(omega: Array) -> Array:
    """Returns the matrix V of the exponential of SE(3): ``position = V(omega) v``."""
    angle = float(np.linalg.norm(omega))
    x, y, z = omega
    w = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    if angle < SMALL_ANGLE_RAD:
        return np.asarray(np.eye(3) + w * (0.5 - angle**2 / 24) + w @ w * (1 / 6 - angle**2 / 120))
    versine = 2 * np.sin(angle / 2) ** 2  # 1 - cos, without its cancellation
    return np.asarray(np.eye(3) + w * (versine / angle**2) + w @ w * ((angle - np.sin(angle)) / angle**3))
