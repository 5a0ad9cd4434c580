"""A controller listens to a detector of pictures only while it waits for a frame."""

import numpy as np

from cellwright.core.messages import Detections
from cellwright.trials.frame_requests import FrameRequests


class Ports:
    """Remembers who listens."""

    def __init__(self):
        self.listening = {}

    def watch(self, detector, take):
        self.listening[detector] = take
        return lambda: self.listening.pop(detector)


def frame_of(source: str) -> Detections:
    none = [np.zeros((0, columns)) for columns in (3, 4, 6)]
    return Detections(
        0, 0, source, frame="world", skus=(), positions=none[0], quaternions=none[1], variances=none[2],
        scores=np.zeros(0),
    )  # fmt: skip


def test_one_frame_is_asked_for_however_often_it_is_waited_for():
    ports, taken = Ports(), []
    requests = FrameRequests(ports, {"left", "right"}, taken.append)
    requests.ask(["left", "other"])
    assert list(ports.listening) == ["left"]
    for _ in range(3):
        requests.ask(["left"])
    ports.listening["left"](frame_of("left"))
    assert [frame.source for frame in taken] == ["left"]
    assert not ports.listening
    requests.ask(["left", "right"])  # that of the left one is still being processed
    assert list(ports.listening) == ["right"]
    requests.done("left")
    requests.ask(["left"])
    assert sorted(ports.listening) == ["left", "right"]


def test_it_stops_listening_at_the_end():
    ports = Ports()
    requests = FrameRequests(ports, {"left", "right"}, lambda _frame: None)
    requests.ask(["right", "left"])
    requests.stop()
    assert not ports.listening
