"""Errors of database drivers, in one line and with advice."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL

__all__ = ["explain"]

LOST = "this change was not confirmed; the next one connects again"
ADVICE = {
    "readonly": "this user may read it, not write it: check the rights of the file and of its folder",
    "is locked": "another program holds it: end that one, or try again; nothing of this change was stored",
    "not a database": "an SQLite file, a new name or the address of a server is allowed",
    "is full": "make room on the disk; nothing of this change was stored",
    "malformed": "the file is damaged: restore a copy",
    "unable to open": "check that this user may read and write it and its folder",
    "server has gone": LOST,
    "Lost connection": LOST,
    "connection is lost": LOST,
    "terminating": LOST,
    "server closed": LOST,
    "did not answer": LOST,
    "connect": "check that the server runs at this address",
}
"""A part of the driver's message -> advice."""


def explain(error: Exception, url: URL | None = None) -> str:
    """Returns the driver's message, without the statement that failed, and advice where there is any."""
    message = driver_message(error)
    earlier = error.__context__
    while not message and earlier is not None:  # a driver that cannot even roll back gives no message
        message, earlier = driver_message(earlier), earlier.__context__
    message = message or type(getattr(error, "orig", None) or error).__name__
    if "unable to open" in message and url is not None and url.database and not Path(url.database).parent.is_dir():
        return f"{message}; folder '{Path(url.database).parent}' does not exist"
    return next((f"{message}; {advice}" for part, advice in ADVICE.items() if part in message), message)


def driver_message(error: BaseException) -> str:
    """Returns the first line of the driver's own message; empty when it has none."""
    cause = getattr(error, "orig", None) or error
    numbered = len(cause.args) > 1 and isinstance(cause.args[0], int)  # as MariaDB's errors are
    words = str(cause.args[1] if numbered else cause).strip()
    return words.splitlines()[0] if words else ""
