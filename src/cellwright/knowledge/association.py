"""Which sight belongs to which object: exact assignment within a gate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["assign", "squared_distances"]

Array = npt.NDArray[np.float64]


def squared_distances(first: Array, first_variances: Array, second: Array, second_variances: Array) -> Array:
    """Squares of Mahalanobis distances between positions, n x 3 and m x 3 -> n x m."""
    difference = first[:, None, :] - second[None, :, :]
    result: Array = (difference**2 / (first_variances[:, None, :] + second_variances[None, :, :])).sum(axis=2)
    return result


def assign(costs: Array, limit: float) -> list[tuple[int, int]]:
    """Pairs of rows and columns with the least sum, where leaving a row alone costs the limit.

    Shortest augmenting paths with potentials (Jonker and Volgenant), exact, n3 at worst; a pair above the limit is
    never made. Where no two rows want the same column, which is usual, nothing has to be searched.
    """
    allowed = costs <= limit
    if (allowed.sum(axis=0) <= 1).all() and (allowed.sum(axis=1) <= 1).all():
        return [(int(row), int(column)) for row, column in np.argwhere(allowed)]
    rows, columns = costs.shape
    wide = np.full((rows, columns + rows), np.inf)
    wide[:, :columns] = np.where(allowed, costs, np.inf)
    wide[np.arange(rows), columns + np.arange(rows)] = limit  # each row may stay alone
    owner = np.full(columns + rows, -1)
    row_potential, column_potential = np.zeros(rows), np.zeros(columns + rows)
    for start in range(rows):
        shortest = np.full(columns + rows, np.inf)
        before = np.full(columns + rows, -1)
        done = np.zeros(columns + rows, bool)
        row, last, reached = start, -1, 0.0
        while True:
            through = reached + wide[row] - row_potential[row] - column_potential
            better = ~done & (through < shortest)
            shortest[better] = through[better]
            before[better] = last
            last = int(np.where(done, np.inf, shortest).argmin())
            reached = float(shortest[last])
            if owner[last] < 0:
                break
            done[last] = True
            row = int(owner[last])
        row_potential[start] += reached
        row_potential[owner[done]] += reached - shortest[done]
        column_potential[done] -= reached - shortest[done]
        while last >= 0:  # everybody on the way moves by one
            previous = int(before[last])
            owner[last] = owner[previous] if previous >= 0 else start
            last = previous
    return sorted((int(owner[c]), c) for c in range(columns) if owner[c] >= 0)
