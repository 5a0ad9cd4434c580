"""Errors of CRCL messages: in values that are written, in text that is read, in a stream of bytes."""

from __future__ import annotations

from cellwright.core.errors import BadInput

__all__ = ["CrclError", "DecodeError", "EncodeError", "FramingError"]


class CrclError(BadInput):
    """Base of all CRCL errors."""


class EncodeError(CrclError):
    """A value that CRCL has no text for; names the field and what is allowed there."""

    def __init__(self, where: str, what: str, allowed: str = "") -> None:
        super().__init__(f"{where}: {what}{_hint(allowed)}")
        self.where = where
        self.what = what
        self.allowed = allowed


class DecodeError(CrclError):
    """A document that is not CRCL; carries the command's number where it could be read, so that it can be answered."""

    def __init__(
        self, what: str, *, where: str = "", line: int = 1, allowed: str = "", command_id: int | None = None
    ) -> None:
        place = f" at {where}" if where else ""
        super().__init__(f"line {line}{place}: {what}{_hint(allowed)}")
        self.what = what
        self.where = where
        self.line = line
        self.allowed = allowed
        self.command_id = command_id


class FramingError(CrclError):
    """Bytes between messages that begin no message, or a message without end; the stream cannot be read on."""


def _hint(allowed: str) -> str:
    return f" (allowed: {allowed})" if allowed else ""
