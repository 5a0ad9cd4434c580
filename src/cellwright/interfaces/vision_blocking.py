"""The vision client for code that does not wait with `await`."""

from __future__ import annotations

from collections.abc import Iterator

from cellwright.core.blocking import BlockingSession
from cellwright.interfaces.vision_client import Frame, VisionClient
from cellwright.interfaces.vision_text import AngleUnit

__all__ = ["BlockingVisionClient"]


class BlockingVisionClient(BlockingSession):
    """The frames of the server at HOST:PORT; a thread of its own reads them all the time.

    Use it as `with cw.BlockingVisionClient("127.0.0.1:5001") as vision`, then `vision.next_frame()`, or
    `for frame in vision` for every frame in order.

    Raises:
        BadInput: The address makes no sense. When entered, NoFrame: no server can be reached.
    """

    def __init__(self, address: str, *, rotation_unit: AngleUnit = "radian", connect_s: float = 5.0) -> None:
        self._client = VisionClient(address, rotation_unit=rotation_unit, connect_s=connect_s)
        super().__init__(self._client, "vision client")

    @property
    def latest(self) -> Frame | None:
        """The last frame that came; None before the first."""
        return self._client.latest

    def next_frame(self, timeout_s: float | None = 5.0) -> Frame:
        """Returns the first frame that arrives from now on; raises NoFrame when none does."""
        return self._wait(self._client.next_frame(timeout_s))

    def __iter__(self) -> Iterator[Frame]:
        while True:
            try:
                yield self._wait(self._client.__anext__())
            except StopAsyncIteration:
                return
