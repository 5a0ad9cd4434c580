"""The live view of a laboratory: what moves, what happens, and a hand on time."""

from __future__ import annotations

import json
import pickle
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from cellwright.core import Role
from cellwright.core.messages import (
    ActionEvent,
    BeliefChange,
    CameraInfo,
    CameraPose,
    CrclCommand,
    CrclStatus,
    Detections,
    FaultEvent,
    Image,
    JointState,
    JudgeEvent,
    Odometry,
    Order,
    Plan,
    SafetyStatus,
    TargetEvent,
    ToolStatus,
    Tracks,
    Verdict,
    Wrench,
)
from cellwright.lab.lab import Lab
from cellwright.viewing.colour_rows import ColourRows
from cellwright.viewing.live_channel import ChannelClosed, PacketKind
from cellwright.viewing.live_gate import DEFAULT_ADDRESS
from cellwright.viewing.live_process import LiveProcess
from cellwright.viewing.packet import pack
from cellwright.viewing.scene import make_scene, moving_bodies

__all__ = ["LiveView"]

FRAME_S = 1 / 30
MESSAGES_FRAMES, STATE_FRAMES = 6, 15
SCENE_S, LAST_S, WAIT_S = 5.0, 2.0, 0.2
MAX_MESSAGES = 5000  # between two looks
NEWEST = (JointState, ToolStatus, Wrench, Odometry, Tracks, Detections, Image, CameraInfo, CameraPose)
EVERY = (
    ActionEvent, BeliefChange, CrclCommand, CrclStatus, FaultEvent, JudgeEvent, Order, Plan, SafetyStatus, TargetEvent,
    Verdict,
)  # fmt: skip
ENDED_COMMAND = re.compile(r"<CommandState>\s*CRCL_(Done|Error)\s*<")


class LiveView:
    """Shows a laboratory in browsers while it runs, and does what they ask for: pause, go on, step, slow motion.

    It changes nothing that happens: a run at full speed waits between stretches of simulation, and does and logs the
    same to the last bit. A run with a pace has sockets, which live on while simulated time is paused.

    >>> with cw.Lab.from_cell("aprs", seed=7) as lab, LiveView(lab, "127.0.0.1:0", speed=None) as view:
    ...     report = lab.run(order="kit_m2l1")
    ...     view.finish({"status": "done" if report.done else "failed"})

    In a process that is driven from outside, such as that of a cell under test, it is opened after the laboratory was
    made and before it runs, and closed after it has run; everything else happens in the laboratory's own event loop.

    Args:
        lab: The laboratory.
        server: Where to listen, such as `127.0.0.1:8080` or `0` for any free port; or the process, which was started
            before the laboratory was made.
        speed: Simulated seconds per wall second; None is as fast as possible. A laboratory with a pace keeps it.
        about: What is known of the run: see `docs/viewer-data.md`.
        profile: The units and frames of the CRCL interfaces.
        say: Told, in a line, when the live page ends before the run does.

    Attributes:
        url: Where the page is, with its token, if it needs one.
        refused: What was refused to pages -> how often, in powers of two.
    """

    def __init__(
        self,
        lab: Lab,
        server: str | LiveProcess = DEFAULT_ADDRESS,
        *,
        speed: float | None = 1.0,
        about: Mapping[str, Any] | None = None,
        profile: str = "spec",
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._lab = lab
        self._pacing = lab.loop.pacing
        self._is_paced = self._pacing.speed is not None
        self._speed_before = self._pacing.speed
        self._say = say
        self._is_open = self._is_watching = True
        self._messages: list[tuple[str, float, Any]] = []
        self._newest: dict[str, tuple[str, float, Any]] = {}
        self._frames = 0
        self._shown: tuple[Any, ...] = ()
        self._told: tuple[Any, ...] = ()
        self._model: Any = None
        self._is_stepping = False
        self._working: set[str] = set()
        self._dropped = 0
        self.refused: dict[str, int] = {}
        if not self._is_paced:
            self._pacing.speed = speed
        self._process = LiveProcess(server) if isinstance(server, str) else server
        self._channel = self._process.channel
        self.url = self._process.url
        self._subscription = lab.bus.subscribe(None, self._take, subscriber="live view", role=Role.RECORDER)
        first = {
            "cell": lab.cell.name,
            "seed": lab.seed,
            "fidelity": lab.cell.fidelity,
            "status": "running",
            "start_s": lab.clock.time_s,
            "is_truth_shown": True,
        }
        try:
            self._channel.send(PacketKind.DOCUMENT, pickle.dumps((lab.cell, profile)))
            self._channel.send(PacketKind.ROWS, pack("rows", {"about": first | dict(about or {})}))
            self._look()
            self._channel.flush(SCENE_S)
        except ChannelClosed:
            self._lose()
        lab.loop.pacing.watch(self._look, FRAME_S)

    @property
    def dropped(self) -> int:
        """Messages and packets that pages never got, because they came too fast."""
        return self._dropped + self._channel.dropped

    @property
    def looks(self) -> int:
        """The number of times that it has looked, 30 in a second of wall time or less."""
        return self._frames

    @property
    def is_open(self) -> bool:
        """False once it was closed, or its process has gone."""
        return self._is_open

    @property
    def pid(self) -> int:
        """The number of the process that serves the page."""
        return self._process.pid

    def pause(self) -> None:
        """Pauses, as a page may; before a run, which then begins when a page says so."""
        self._pacing.pause()

    def add_rows(self, rows: Mapping[str, Any]) -> None:
        """Has pages show rows that no message tells of, such as `about`, once a run is judged."""
        if self._is_open:
            try:
                self._channel.send(PacketKind.ROWS, pack("rows", rows))
            except ChannelClosed:
                self._lose()

    def finish(self, about: Mapping[str, Any], rows: Mapping[str, Any] | None = None) -> None:
        """Says how the run has ended; pages stay as they are for as long as this view is open."""
        self._look()
        self._flush_messages()
        self.add_rows({**(rows or {}), "about": {"end_s": self._lab.clock.time_s, "status": "ended"} | dict(about)})

    @contextmanager
    def during_run(self) -> Iterator[None]:
        """Holds time while something runs, and no longer: pages see its end, and stay as they are then."""
        try:
            yield
        except BaseException:
            self.finish({})
            raise
        finally:
            self._leave()

    def wait(self) -> None:
        """Waits until the page's process ends: for ever, unless somebody ends it or interrupts this."""
        while self._is_open and self._process.is_alive:
            time.sleep(WAIT_S)

    def close(self) -> None:
        """Ends it: time goes as it went before, and pages keep what they have."""
        if self._is_open:
            self._leave()
            try:
                self._flush_messages()
                self._channel.flush(LAST_S)
            except ChannelClosed:
                pass
        self._is_open = False
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.finish({})
        self.close()

    # ------------------------------------------------------------ what pages get

    def _take(self, topic: str, message: Any) -> None:
        """Notes a message of the bus, until the next look."""
        if isinstance(message, NEWEST):
            self._newest[topic] = (topic, message.time_ns / 1e9, message)
        elif isinstance(message, EVERY):
            if self._is_stepping:
                self._end_step(message)
            if len(self._messages) < MAX_MESSAGES:
                self._messages.append((topic, message.time_ns / 1e9, message))
            else:
                self._dropped += 1

    def _look(self) -> None:
        """Sends what is new and does what pages ask for; is called 30 times a second of wall time, or less often."""
        if not self._is_open:
            return
        try:
            self._show()
            self._frames += 1
            if self._frames % MESSAGES_FRAMES == 0 or self._pacing.is_paused:
                self._flush_messages()
            for line in self._channel.commands():
                self._obey(json.loads(line))
            state = (self._pacing.is_paused, self._pacing.speed)
            if state != self._told or (self._frames % STATE_FRAMES == 0 and not self._pacing.is_paused):
                self._told = state
                told = {"paused": state[0], "speed": state[1], "time_s": self._lab.clock.time_s}
                self._channel.send(PacketKind.STATE, pack("state", told | {"lag": round(self._pacing.slipped_s, 3)}))
            self._channel.pump()
        except ChannelClosed:
            self._lose()

    def _show(self) -> None:
        """Sends the poses, if anything may have moved; before them the scene, if it is another one."""
        world = self._lab.world
        shown = (world.clock.tick, world.model)
        if self._shown and shown[0] == self._shown[0] and shown[1] is self._shown[1]:
            return
        self._shown = shown
        model, data = world.appearance.now()
        if model is not self._model:
            self._model = model
            self._moving = np.array(moving_bodies(world), np.intp)
            self._poses = np.empty((len(self._moving), 7), "<f4")
            self._channel.send(PacketKind.SCENE, make_scene(world))
            self._colours = ColourRows(world)
        if world.mobiles and (row := self._colours.take(world.clock.time_s)) is not None:
            self._channel.send(PacketKind.ROWS, pack("rows", {"colours": [row]}))
        self._poses[:, :3] = data.xpos[self._moving]
        self._poses[:, 3:] = data.xquat[self._moving]
        header = {"time_s": world.clock.time_s, "count": len(self._moving)}
        self._channel.send(PacketKind.POSES, pack("poses", header, self._poses.tobytes()))

    def _flush_messages(self) -> None:
        if not self._is_open or not (self._messages or self._newest):
            return
        messages = sorted([*self._messages, *self._newest.values()], key=lambda item: item[1])
        self._messages, self._newest = [], {}
        try:
            self._channel.send(PacketKind.MESSAGES, pickle.dumps(messages, pickle.HIGHEST_PROTOCOL))
        except ChannelClosed:
            self._lose()

    # ------------------------------------------------------------ what pages ask for

    def _obey(self, asked: dict[str, Any]) -> None:
        if "refused" in asked:
            self.refused[asked["refused"]] = asked["count"]
            return
        do = asked["do"]
        self._is_stepping = do == "step" or (self._is_stepping and do == "speed")
        if do == "pause":
            self._pacing.pause()
        elif do == "speed":
            self._pacing.speed = asked["value"]
        else:
            self._working.clear()
            self._pacing.resume()

    def _end_step(self, message: Any) -> None:
        """Pauses at the end of an action; of a controller that tells none, at that of a CRCL command."""
        if isinstance(message, ActionEvent):
            is_end = message.phase in ("end", "fail")
        elif not isinstance(message, CrclCommand | CrclStatus) or ActionEvent in self._lab.bus.topics.values():
            return
        else:
            has_ended = isinstance(message, CrclStatus) and ENDED_COMMAND.search(message.document) is not None
            is_end = has_ended and message.source in self._working
            if not has_ended:
                self._working.add(message.source)
        if is_end:
            self._is_stepping = False
            self._pacing.pause()

    # ------------------------------------------------------------ its end

    def _leave(self) -> None:
        if self._is_watching:
            self._is_watching = False
            self._lab.loop.pacing.unwatch(self._look)
            self._lab.bus.unsubscribe(self._subscription)
            self._pacing.speed = self._speed_before
            self._pacing.resume()

    def _lose(self) -> None:
        """Goes on without: nobody could end a pause any more."""
        if self._is_open:
            self._is_open = False
            self._leave()
            self._say("the live page has ended, its process is gone; the run goes on")
