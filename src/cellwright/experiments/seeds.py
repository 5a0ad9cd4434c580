"""Seeds on the command line: `3`, `0..99`, `1,5,7..9`, and the same form for those that failed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cellwright.core.errors import BadInput

__all__ = ["parse_seeds", "seeds_text"]

MOST_SEEDS = 10_000
LARGEST_SEED = 2**63 - 1


def parse_seeds(text: str) -> tuple[int, ...]:
    """Returns the seeds in their order, each once.

    Raises:
        BadInput: One line: the part that is wrong, and what is allowed.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,19})\s*(?:\.\.\s*(\d{1,19})\s*)?", part, re.ASCII)
        if match is None:
            raise BadInput(f"--seeds: '{part.strip()}' should be a seed or FIRST..LAST, as in 3, 0..99 or 1,5,7..9")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise BadInput(f"--seeds: {first}..{last} goes downwards; the first should be the smaller one")
        if last > LARGEST_SEED:
            raise BadInput(f"--seeds: {last} is too large, allowed 0 to {LARGEST_SEED}")
        if last - first >= MOST_SEEDS or len(found | set(range(first, last + 1))) > MOST_SEEDS:
            raise BadInput(f"--seeds: '{text}' is more than {MOST_SEEDS} seeds")
        found |= set(range(first, last + 1))
    return tuple(sorted(found))


def seeds_text(seeds: Iterable[int]) -> str:
    """Returns seeds in the short form that `parse_seeds` reads."""
    runs: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ",".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
