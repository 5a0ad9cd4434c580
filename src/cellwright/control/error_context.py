"""Errors of motions in the words of the robot's user: its own name, and poses as they are given to it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.motion import Unreachable

__all__ = ["caller_error_context", "with_error_context"]

P = ParamSpec("P")


class HasErrorContext(Protocol):
    """What has moves whose errors are told in its own words."""

    def error_context(self) -> AbstractContextManager[None]:
        """Tells the errors of what is done inside."""


W = TypeVar("W", bound=HasErrorContext)
Move = Callable[Concatenate[W, P], Coroutine[Any, Any, None]]


@contextmanager
def caller_error_context(robot: str, arm: str, as_asked: Callable[[Pose], Pose], frame: str) -> Iterator[None]:
    """Has errors of motions name the robot, not its kind of arm, and the pose that was asked for, not the flange's.

    Args:
        robot: Its name.
        arm: That of its kind, as the catalogue has it.
        as_asked: From a pose of the flange in the base to one in the frame of whoever asks.
        frame: What that frame is called.
    """
    try:
        yield
    except Unreachable as error:
        told = Unreachable(robot, as_asked(error.pose), error.why, frame)
        told.away_m, told.reach_m = error.away_m, error.reach_m
        raise told from None
    except JobFailed as error:
        if type(error) is not JobFailed or not str(error).startswith(arm):
            raise
        raise JobFailed(robot + str(error).removeprefix(arm)) from None


def with_error_context(move: Move[W, P]) -> Move[W, P]:
    """Decorates a move: its errors are told as `error_context` of its object has them."""

    @wraps(move)
    async def worded(self: W, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with self.error_context():
            await move(self, *args, **kwargs)

    return worded
