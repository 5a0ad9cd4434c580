"""Work in fresh interpreters: for other hash seeds, for two cores, for libraries that print to stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cellwright.bench.result import MeasurementConditions, MeasurementFailed

__all__ = ["call_in_process", "run_trials"]

SHARE = 10  # trials per process, which spreads the time that it takes to start one

CODE = """
import importlib, json, pathlib, sys
module, function, arguments, answer = sys.argv[1:]
result = getattr(importlib.import_module(module), function)(*json.loads(arguments))
pathlib.Path(answer).write_text(json.dumps(result))
"""


def call_in_process(module: str, function: str, *arguments: Any, hash_seed: int = 0) -> Any:
    """Calls a function of a module in a process of its own; what goes in and comes out is JSON, what it prints is lost.

    Raises:
        MeasurementFailed: with the last line of its error output, when the call failed.
    """
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": path}
    with TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-c", CODE, module, function, json.dumps(arguments), str(answer)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise MeasurementFailed(f"{module}.{function}", reason)
        return json.loads(answer.read_text(encoding="utf-8"))


def run_trials(
    what: str,
    module: str,
    function: str,
    conditions: MeasurementConditions,
    count: int,
    *options: bool,
    problem: Callable[[Any], str] = str,
) -> list[Any]:
    """Runs trials by their numbers in processes on all cores, and tells of failures.

    Args:
        what: The kind of trial, for a person.
        module: The module of `cellwright.bench` with the function.
        function: Returns a result for each number of a list, given seed, numbers and options.
        conditions: The seed, and where to tell.
        count: How many.
        options: Of the function.
        problem: Returns why a result is a failure, or an empty text.

    Returns:
        The results in the order of their numbers.
    """
    conditions.say(f"{count} trials: {what}")
    workers = os.cpu_count() or 1
    size = max(1, min(SHARE, -(-count // workers)))
    shares = [list(range(start, min(start + size, count))) for start in range(0, count, size)]
    results: dict[int, Any] = {}
    conditions.progress(0, count)

    def work(numbers: Sequence[int]) -> dict[int, Any]:
        rows = call_in_process(f"cellwright.bench.{module}", function, conditions.seed, list(numbers), *options)
        return dict(zip(numbers, rows, strict=True))

    with ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work, share) for share in shares]):
            results |= future.result()
            for number, result in future.result().items():
                if problem(result):
                    conditions.say(f"  trial {number} failed: {problem(result)}")
            conditions.progress(len(results), count)
    return [results[number] for number in range(count)]
