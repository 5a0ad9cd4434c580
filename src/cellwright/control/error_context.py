"""Errors of motions in the caller's terms: the robot's own name, and poses in the frame in which they were given."""

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
    """An object with moves whose errors are translated for its caller."""

    def error_context(self) -> AbstractContextManager[None]:
        """Returns a context that translates errors which are raised inside."""


W = TypeVar("W", bound=HasErrorContext)
Move = Callable[Concatenate[W, P], Coroutine[Any, Any, None]]


@contextmanager
def caller_error_context(robot: str, arm: str, as_asked: Callable[[Pose], Pose], frame: str) -> Iterator[None]:
    """Translates errors of motions: they name the robot, not its kind of arm, and the caller's pose, not the flange's.

    Args:
        robot: Its name.
        arm: The name of its kind of arm in the catalogue.
        as_asked: From a pose of the flange in the base to one in the caller's frame.
        frame: The name of that frame.
    """
    try:
        yield
    except Unreachable as error:
        translated = Unreachable(robot, as_asked(error.pose), error.why, frame)
        translated.away_m, translated.reach_m = error.away_m, error.reach_m
        raise translated from None
    except JobFailed as error:
        if type(error) is not JobFailed or not str(error).startswith(arm):
            raise
        raise JobFailed(robot + str(error).removeprefix(arm)) from None


def with_error_context(move: Move[W, P]) -> Move[W, P]:
    """Decorates a move, so that it runs in the `error_context` of its object."""

    @wraps(move)
    async def translated(self: W, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with self.error_context():
            await move(self, *args, **kwargs)

    return translated
