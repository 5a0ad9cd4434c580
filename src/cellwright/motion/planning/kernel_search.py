"""Compiled: RRT-Connect (Kuffner and LaValle, 2000), one tree from the start and one from all goals."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.motion.planning.arrays import SceneArrays
from cellwright.motion.planning.jit import compiled
from cellwright.motion.planning.kernel_motion import stepped, turned_upright
from cellwright.motion.planning.kernel_state import room

__all__ = ["next_random", "search"]


@compiled
def next_random(state: Any) -> float:
    """Returns the next number in [0, 1) of a SplitMix64 sequence; the same on every machine."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0


@compiled
def search(
    scene: SceneArrays,
    limit: Any,
    start: Any,
    goals: Any,
    lower: Any,
    upper: Any,
    reach: float,
    step: float,
    margins: Any,
    budget: int,
    random: Any,
    checks: Any,
) -> Any:
    """Returns a path (n, joints) from the start to one of the goals, without rows if there is none, and the iterations.

    Start and goals must be free. `random` is the state of the random numbers, `checks` counts the states checked.
    """
    count = len(start)
    space = room(scene)
    nodes = np.empty((2, 1024, count))
    parents = np.full((2, 1024), -1)
    sizes = np.array([1, len(goals)])
    while nodes.shape[1] < len(goals) + 1:
        nodes, parents = _doubled(nodes, parents)
    nodes[0, 0] = start
    nodes[1, : len(goals)] = goals
    wish, there = np.empty(count), np.empty(count)
    for iteration in range(budget):
        tree = 0 if sizes[0] <= sizes[1] else 1
        other = 1 - tree
        if iteration == 0:  # the straight way to the nearest goal
            wish[:] = goals[_nearest(nodes[1], len(goals), start)]
        else:
            for joint in range(count):
                wish[joint] = lower[joint] + (upper[joint] - lower[joint]) * next_random(random)
            if not turned_upright(scene, limit, lower, upper, wish, space):
                continue
        node = _nearest(nodes[tree], sizes[tree], wish)
        if not stepped(scene, limit, lower, upper, nodes[tree, node], wish, reach, step, margins, space, checks, there):
            continue
        nodes, parents = _with_room(nodes, parents, sizes[tree])
        added = sizes[tree]
        nodes[tree, added], parents[tree, added] = there, node
        sizes[tree] += 1
        wish[:] = there
        node = _nearest(nodes[other], sizes[other], wish)
        while True:
            outcome = stepped(
                scene, limit, lower, upper, nodes[other, node], wish, reach, step, margins, space, checks, there
            )
            if outcome == 0:
                break
            if outcome == 2:
                ends = (added, node) if tree == 0 else (node, added)
                return _joined(nodes, parents, ends[0], ends[1]), iteration + 1
            nodes, parents = _with_room(nodes, parents, sizes[other])
            nodes[other, sizes[other]], parents[other, sizes[other]] = there, node
            node = sizes[other]
            sizes[other] += 1
    return np.empty((0, count)), budget


@compiled
def _nearest(nodes: Any, size: int, wish: Any) -> int:
    best, least = 0, np.inf
    for node in range(size):
        total = 0.0
        for joint in range(len(wish)):
            total += (nodes[node, joint] - wish[joint]) ** 2
        if total < least:
            best, least = node, total
    return best


@compiled
def _with_room(nodes: Any, parents: Any, size: int) -> Any:
    return _doubled(nodes, parents) if size == nodes.shape[1] else (nodes, parents)


@compiled
def _doubled(nodes: Any, parents: Any) -> Any:
    old = nodes.shape[1]
    more_nodes = np.empty((2, 2 * old, nodes.shape[2]))
    more_parents = np.full((2, 2 * old), -1)
    more_nodes[:, :old], more_parents[:, :old] = nodes, parents
    return more_nodes, more_parents


@compiled
def _joined(nodes: Any, parents: Any, first: int, second: int) -> Any:
    """Returns the way back from one node to the start, turned round, then from the other to its goal."""
    there, back = 0, 0
    node = first
    while node >= 0:
        there, node = there + 1, parents[0, node]
    node = second
    while node >= 0:
        back, node = back + 1, parents[1, node]
    path = np.empty((there + back, nodes.shape[2]))
    node = first
    for row in range(there - 1, -1, -1):
        path[row], node = nodes[0, node], parents[0, node]
    node = second
    for row in range(there, there + back):
        path[row], node = nodes[1, node], parents[1, node]
    return path
