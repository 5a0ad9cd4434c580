"""The vision clients for code that does not wait with `await`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from cellwright.core.blocking import BlockingSession
from cellwright.core.messages import Detections
from cellwright.interfaces.vision_client import DetectionsClient, Frame, FrameClient, VisionClient
from cellwright.interfaces.vision_text import AngleUnit

__all__ = ["BlockingDetectionsClient", "BlockingVisionClient"]

F = TypeVar("F")


class _BlockingFrames(BlockingSession, Generic[F]):
    def __init__(self, client: FrameClient[F]) -> None:
        self._client = client
        super().__init__(client, "vision client")

    @property
    def latest(self) -> F | None:
        """The last frame that came; None before the first."""
        return self._client.latest

    def next_frame(self, timeout_s: float | None = 5.0) -> F:
        """Returns the first frame that arrives from now on; raises NoFrame when none does."""
        return self._wait(self._client.next_frame(timeout_s))

    def __iter__(self) -> Iterator[F]:
        while True:
            try:
                yield self._wait(self._client.__anext__())
            except StopAsyncIteration:
                return


class BlockingVisionClient(_BlockingFrames[Frame]):
    """The frames of the server at HOST:PORT; a thread of its own reads them all the time.

    Use it as `with cw.BlockingVisionClient("127.0.0.1:5001") as vision`, then `vision.next_frame()`, or
    `for frame in vision` for every frame in order.

    Raises:
        BadInput: The address makes no sense. When entered, NoFrame: no server can be reached.
    """

    def __init__(self, address: str, *, rotation_unit: AngleUnit = "radian", connect_s: float = 5.0) -> None:
        client = VisionClient(address, connect_s=connect_s)
        client.rotation_unit = rotation_unit
        super().__init__(client)


class BlockingDetectionsClient(_BlockingFrames[Detections]):
    """The same in the extended protocol: each frame is the message that the detector published.

    Raises:
        BadInput: The address makes no sense. When entered, NoFrame: no server that speaks it can be reached.
    """

    def __init__(self, address: str, *, connect_s: float = 5.0) -> None:
        super().__init__(DetectionsClient(address, connect_s=connect_s))
