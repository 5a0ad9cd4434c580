"""A second process that plays the real cell: robots and detectors at addresses, with errors and a seed of its own.

What it says over its sockets is what a real cell would say. Its own control socket is the experiment's alone: there it
judges its own kits by its own truth.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

from cellwright.core.errors import BadInput, JobFailed
from cellwright.interfaces import CrclInterface, VisionInterface
from cellwright.interfaces.control import ControlInterface
from cellwright.judge import judge_kit
from cellwright.lab import Lab
from cellwright.orders import DESIGNS

__all__ = ["RealCell", "serve_cell"]

LONGEST_S = 3600.0
ANSWER_S = 30.0


class RealCell:
    """Starts the process, and ends it; use it as `with RealCell("aprs@as_built", 7) as cell`.

    Attributes:
        crcl: Robot -> HOST:PORT.
        vision: Detector -> HOST:PORT.

    Args:
        cell: The cell, with its errors.
        seed: Of these errors and of all noise.
        pace: Simulated seconds per second.
    """

    def __init__(self, cell: str, seed: int, pace: float = 1.0) -> None:
        code = f"from {__name__} import serve_cell; serve_cell({cell!r}, {seed}, {pace})"
        command, pipe = [sys.executable, "-c", code], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise JobFailed(f"the process of the real cell {cell} did not start")
        told = json.loads(line)
        self.crcl: dict[str, str] = told["crcl"]
        self.vision: dict[str, str] = told["vision"]
        self._control: str = told["control"]

    def judge(self, tray: str, kit: str) -> tuple[bool, str]:
        """Returns whether a tray is a complete kit there, by the truth, and why not."""
        host, port = self._control.rsplit(":", 1)
        with socket.create_connection((host, int(port)), ANSWER_S) as link, link.makefile("rwb") as lines:
            lines.write(json.dumps({"tray": tray, "kit": kit}).encode() + b"\n")
            lines.flush()
            answer = json.loads(lines.readline())
        if "error" in answer:
            raise JobFailed(str(answer["error"]))
        return bool(answer["done"]), str(answer["reason"])

    def stall(self, is_stalled: bool) -> None:
        """Stops the whole process, or lets it go on."""
        self._process.send_signal(signal.SIGSTOP if is_stalled else signal.SIGCONT)

    def kill(self) -> None:
        """Ends it at once, as a power cut would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Ends it."""
        if self._process.poll() is None:
            self.stall(False)
            self._process.terminate()
            try:
                self._process.wait(5.0)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve_cell(cell: str, seed: int, pace: float) -> None:
    """Serves a cell until it is terminated, or its input ends; tells its addresses on standard output."""
    with Lab.from_cell(cell, seed, pace=pace, horizon_s=LONGEST_S) as lab:

        def judged(asked: dict[str, Any]) -> dict[str, Any]:
            if "tray" not in asked or "kit" not in asked:
                raise BadInput('allowed: {"tray": NAME, "kit": NAME}')
            verdict = judge_kit(lab.world, asked["tray"], DESIGNS.get(asked["kit"]))
            return {"done": verdict.done, "reason": verdict.reason}

        async def serve() -> None:
            crcl, vision = CrclInterface(lab), VisionInterface(lab)
            control = ControlInterface(judged)
            await crcl.start(ports=dict.fromkeys(crcl.servers, 0))
            await vision.start(ports=dict.fromkeys(vision.servers, 0))
            await control.start()
            detectors = {
                lab.cell.robots[robot].vision.detector: address  # type: ignore[union-attr]
                for robot, address in vision.addresses.items()
            }
            addresses = {robot: "{}:{}".format(*server.address) for robot, server in crcl.servers.items()}
            print(json.dumps({"crcl": addresses, "vision": detectors, "control": control.address}), flush=True)
            ended = asyncio.Event()
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, ended.set)
            loop.add_reader(sys.stdin, ended.set)  # which ends with the process that began it, however that does
            await ended.wait()
            for interface in (control, vision, crcl):
                await interface.close()

        lab.perform(serve())
