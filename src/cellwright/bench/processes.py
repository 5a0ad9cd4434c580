"""Work in fresh interpreters: for other hash seeds, for two cores, for libraries that print to stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cellwright.bench.result import MeasurementFailed

__all__ = ["call_in_process"]

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
