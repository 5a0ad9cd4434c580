"""Exact assignment of rows to columns within a gate, for data association."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["assign", "squared_distances"]

Array = npt.NDArray[np.float64]


def squared_distances(first: Array, first_variances: Array, second: Array, second_variances: Array) -> Array:
    """Returns the squared Mahalanobis distances between positions, n x 3 and m x 3 -> n x m."""
    result: Array = np.zeros((len(first), len(second)))
    columns = zip(first.T, first_variances.T, second.T, second_variances.T, strict=True)
    for one, one_variance, other, other_variance in columns:  # a sum over three numbers takes longer than three sums
        result += (one[:, None] - other) ** 2 / (one_variance[:, None] + other_variance)
    return result


def assign(costs: Array, limit: float) -> list[tuple[int, int]]:
    """Returns the pairs of rows and columns with the least total cost, where leaving a row alone costs the limit.

    A pair above the limit is never made. Where a row and a column want only each other, which is usual, nothing has
    to be searched; the rest is solved exactly.
    """
    allowed = costs <= limit
    per_row, per_column = allowed.sum(axis=1), allowed.sum(axis=0)
    row_of, column_of = allowed.nonzero()
    sure = (per_row[row_of] == 1) & (per_column[column_of] == 1)
    pairs = list(zip(row_of[sure].tolist(), column_of[sure].tolist(), strict=True))
    if len(pairs) < len(row_of):
        rows, columns = np.flatnonzero(per_row), np.flatnonzero(per_column)
        rows = rows[~np.isin(rows, [r for r, _ in pairs])]
        columns = columns[~np.isin(columns, [c for _, c in pairs])]
        block = np.where(allowed, costs, np.inf)[np.ix_(rows, columns)]
        pairs += [(int(rows[r]), int(columns[c])) for r, c in _shortest_paths(block, limit)]
    return sorted(pairs)


def _shortest_paths(costs: Array, limit: float) -> list[tuple[int, int]]:
    """Solves by shortest augmenting paths with potentials (Jonker and Volgenant), n3 at worst."""
    rows, columns = costs.shape
    wide = np.full((rows, columns + rows), np.inf)
    wide[:, :columns] = costs
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
        while last >= 0:  # every row on the path moves by one
            previous = int(before[last])
            owner[last] = owner[previous] if previous >= 0 else start
            last = previous
    return sorted((int(owner[c]), c) for c in range(columns) if owner[c] >= 0)
