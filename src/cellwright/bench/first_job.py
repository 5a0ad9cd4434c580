"""The first job many times: its success rate over seeds, and whether one seed always gives the same log."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from cellwright.bench.gear_transfer import transfer_gear
from cellwright.bench.processes import call_in_process
from cellwright.lab import Lab

__all__ = ["identical_runs", "log_digest", "succeeds", "successes"]

CELL = "aprs"
AT_ONCE = 2
SHARE = 5  # jobs per process, which spreads the time that it takes to start one


def succeeds(*seeds: int) -> list[bool]:
    """Returns for each seed whether the gear is seated in the end, by the true state."""
    results = []
    for seed in seeds:
        with Lab.from_cell(CELL, seed) as lab:
            results.append(transfer_gear(lab).done)
    return results


def log_digest(seed: int) -> str:
    """Returns a digest of the log of the job."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "job.mcap"
        with Lab.from_cell(CELL, seed) as lab:
            lab.record(log)
            transfer_gear(lab)
        return hashlib.sha256(log.read_bytes()).hexdigest()


def successes(seeds: Sequence[int], say: Callable[[str], None]) -> int:
    """Returns the number of seeds that succeed, two processes at a time."""
    shares = [seeds[i : i + SHARE] for i in range(0, len(seeds), SHARE)]
    tried = done = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for results in pool.map(lambda share: call_in_process(__name__, "succeeds", *share), shares):
            tried, done = tried + len(results), done + sum(results)
            say(f"  {done} of {tried} done")
    return done


def identical_runs(seed: int, count: int) -> int:
    """Returns the number of runs with one seed that give the same bytes, in processes with different hash seeds."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        digests = pool.map(lambda run: call_in_process(__name__, "log_digest", seed, hash_seed=run), range(count))
        return Counter(digests).most_common(1)[0][1]
