"""The control laws, as plain loops over plain arrays, which compile to microseconds.

The functions take a `block` (`control_block.py`): the arm as a rigid chain, the gains, and space for results. They
use no package but numpy, so that `compiled.py` can translate them as they stand, and tests can run them as they stand.

Vectors are in the frame of the robot's base throughout.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from cellwright.sim import take_up

__all__ = ["LAWS", "cartesian", "computed_torque"]


def cross(a, b):
    """Returns the cross product. Vectors are tuples inside the laws: compiled, those need no memory of their own."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def plus(a, b):
    """Returns the sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a, b):
    """Returns the difference of two vectors."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def times(a, factor):
    """Returns a vector times a factor."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def apply(matrix, v):
    """Returns the product of a matrix and a vector."""
    return (
        matrix[0, 0] * v[0] + matrix[0, 1] * v[1] + matrix[0, 2] * v[2],
        matrix[1, 0] * v[0] + matrix[1, 1] * v[1] + matrix[1, 2] * v[2],
        matrix[2, 0] * v[0] + matrix[2, 1] * v[1] + matrix[2, 2] * v[2],
    )


def put(row, v):
    """Stores a vector in a row of an array."""
    row[0], row[1], row[2] = v[0], v[1], v[2]


def swing(omega, alpha, arm):
    """Returns the acceleration at the end of a turning lever arm."""
    return plus(cross(alpha, arm), cross(omega, cross(omega, arm)))


def product(a, b, result):
    """Writes the product of two matrices into a third."""
    for i in range(3):
        for j in range(3):
            result[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


def chain(block, position, rotations, origins, axes):
    """Computes rotation and origin of each link's frame, and each joint's axis."""
    turn, frame, spin = np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    place = (0.0, 0.0, 0.0)
    for k in range(block["joints"]):
        place = plus(place, apply(turn, block["offsets"][k]))
        product(turn, block["turns"][k], frame)
        axis = block["axes"][k]
        s, c = math.sin(position[k]), math.cos(position[k])
        for i in range(3):  # Rodrigues' formula
            for j in range(3):
                spin[i, j] = (1.0 - c) * axis[i] * axis[j]
            spin[i, i] += c
        spin[0, 1] -= s * axis[2]
        spin[1, 0] += s * axis[2]
        spin[0, 2] += s * axis[1]
        spin[2, 0] -= s * axis[1]
        spin[1, 2] -= s * axis[0]
        spin[2, 1] += s * axis[0]
        turn = rotations[k]
        product(frame, spin, turn)
        put(axes[k], apply(frame, axis))
        put(origins[k], place)


def inverse_dynamics(block, rotations, origins, axes, velocity, acceleration, effort):
    """Computes torques by Newton-Euler: M(q) a + C(q, v) v + g(q), drives' inertia and losses included."""
    joints, gravity = block["joints"], block["gravity"]
    forces, moments = np.zeros((joints, 3)), np.zeros((joints, 3))
    omega, alpha, last = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    lift = (-gravity[0], -gravity[1], -gravity[2])
    for k in range(joints):
        lift = plus(lift, swing(omega, alpha, minus(origins[k], last)))
        last = (origins[k][0], origins[k][1], origins[k][2])
        alpha = plus(alpha, plus(times(axes[k], acceleration[k]), times(cross(omega, axes[k]), velocity[k])))
        omega = plus(omega, times(axes[k], velocity[k]))
        centre = apply(rotations[k], block["centres"][k])
        force = times(plus(lift, swing(omega, alpha, centre)), block["masses"][k])
        inertia, back = block["inertias"][k], rotations[k].T
        spun = apply(rotations[k], apply(inertia, apply(back, alpha)))
        spin = apply(rotations[k], apply(inertia, apply(back, omega)))
        put(forces[k], force)
        put(moments[k], plus(plus(spun, cross(omega, spin)), cross(centre, force)))
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(joints - 1, -1, -1):
        if k < joints - 1:
            moment = plus(moment, cross(minus(origins[k + 1], origins[k]), force))
        force, moment = plus(force, forces[k]), plus(moment, moments[k])
        turning = axes[k][0] * moment[0] + axes[k][1] * moment[1] + axes[k][2] * moment[2]
        effort[k] = turning + block["armatures"][k] * acceleration[k] + block["losses"][k] * velocity[k]


def flange(block, rotations, origins, axes, velocity, jacobian, drift):
    """Computes the flange's pose, its Jacobian, and the acceleration J' v that it has when the joints have none."""
    joints = block["joints"]
    tip = plus(origins[joints - 1], apply(rotations[joints - 1], block["flange"]))
    omega, alpha, lift, last = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(joints):
        lift = plus(lift, swing(omega, alpha, minus(origins[k], last)))
        last = (origins[k][0], origins[k][1], origins[k][2])
        alpha = plus(alpha, times(cross(omega, axes[k]), velocity[k]))
        omega = plus(omega, times(axes[k], velocity[k]))
        put(jacobian[:3, k], cross(axes[k], minus(tip, origins[k])))
        put(jacobian[3:, k], axes[k])
    put(drift[:3], plus(lift, swing(omega, alpha, minus(tip, last))))
    put(drift[3:], alpha)
    return tip


def solve_damped(jacobian, epsilon, wanted, result):
    """Solves (J^T J + epsilon I) y = J^T x, eq. 11, by Cholesky's factors."""
    size = jacobian.shape[1]
    lower = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            total = epsilon if i == j else 0.0
            for k in range(6):
                total += jacobian[k, i] * jacobian[k, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(total) if i == j else total / lower[j, j]
    for i in range(size):
        total = 0.0
        for k in range(6):
            total += jacobian[k, i] * wanted[k]
        for k in range(i):
            total -= lower[i, k] * result[k]
        result[i] = total / lower[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            result[i] -= lower[k, i] * result[k]
        result[i] /= lower[i, i]


def through_play(play, position, velocity, reference):
    """Has the motors follow a reference; returns their encoder readings, and the part that reaches the links."""
    take_up(play, reference[0], reference[1])
    joints = play.shape[1]
    motor, speed, wanted = np.empty(joints), np.empty(joints), np.empty((3, joints))
    for k in range(joints):
        motor[k], speed[k] = position[k] - play[2, k], velocity[k] + play[4, k]
        wanted[0, k], wanted[1, k], wanted[2, k] = reference[0, k], reference[1, k], reference[2, k] * play[3, k]
    return motor, speed, wanted


def computed_torque(block, position, velocity, reference):
    """Applies equations 6 to 8: the arm's own dynamics cancelled, each joint a damped spring on its reference."""
    joints = block["joints"]
    rotations, origins, axes = np.empty((joints, 3, 3)), np.empty((joints, 3)), np.empty((joints, 3))
    chain(block, position, rotations, origins, axes)
    wanted = np.empty(joints)
    for k in range(joints):
        wanted[k] = (
            reference[2, k]
            + block["damping"] * (reference[1, k] - velocity[k])
            + block["stiffness"] * (reference[0, k] - position[k])
        )
    inverse_dynamics(block, rotations, origins, axes, velocity, wanted, block["effort"])


def cartesian(block, position, velocity, reference):
    """Applies equations 9 to 12: the flange a damped spring on its reference pose, by the damped inverse of J.

    The orientation's error is the vector part of its quaternion. What J does not see, the self-motion of a
    seven-axis arm, is held to the joints' reference when `null_share` is 1.
    """
    joints = block["joints"]
    rotations, origins, axes = np.empty((joints, 3, 3)), np.empty((joints, 3)), np.empty((joints, 3))
    jacobian, drift = np.empty((6, joints)), np.empty(6)
    chain(block, reference[0], rotations, origins, axes)
    goal = flange(block, rotations, origins, axes, reference[1], jacobian, drift)
    goal_turn = rotations[joints - 1].copy()
    speed, wanted = np.zeros(6), np.zeros(6)
    for i in range(6):
        for k in range(joints):
            speed[i] += jacobian[i, k] * reference[1, k]
            wanted[i] += jacobian[i, k] * reference[2, k]
        wanted[i] += drift[i]
    chain(block, position, rotations, origins, axes)
    tip = flange(block, rotations, origins, axes, velocity, jacobian, drift)
    error = np.empty((3, 3))
    product(goal_turn, rotations[joints - 1].T, error)
    real = 0.5 * math.sqrt(max(1e-6, 1.0 + error[0, 0] + error[1, 1] + error[2, 2]))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        wanted[i] += block["stiffness"] * (goal[i] - tip[i])
        wanted[i + 3] += block["stiffness"] * (error[k, j] - error[j, k]) / (4.0 * real)
    for i in range(6):
        for k in range(joints):
            speed[i] -= jacobian[i, k] * velocity[k]
        wanted[i] += block["damping"] * speed[i] - drift[i]
    answer = np.zeros(joints)
    if block["null_share"] > 0.0:
        own = np.empty(joints)
        for k in range(joints):
            own[k] = block["null_share"] * (
                reference[2, k]
                + block["damping"] * (reference[1, k] - velocity[k])
                + block["stiffness"] * (reference[0, k] - position[k])
            )
        for i in range(6):
            for k in range(joints):
                wanted[i] -= jacobian[i, k] * own[k]
        solve_damped(jacobian, block["epsilon"], wanted, answer)
        answer += own
    else:
        solve_damped(jacobian, block["epsilon"], wanted, answer)
    inverse_dynamics(block, rotations, origins, axes, velocity, answer, block["effort"])


LAWS = (
    take_up,
    cross,
    plus,
    minus,
    times,
    apply,
    put,
    swing,
    product,
    chain,
    inverse_dynamics,
    flange,
    solve_damped,
    through_play,
    computed_torque,
    cartesian,
)
"""In the order in which they need each other."""
