"""The gate of the rosbridge server: which connections come in, by address, token and the site that they are from."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cellwright.core.errors import BadInput
from cellwright.core.listener import is_loopback

__all__ = ["DEFAULT_PORT", "TOKEN_VARIABLE", "RosbridgeGate", "token_for"]

DEFAULT_PORT = 9090
TOKEN_VARIABLE = "CELLWRIGHT_BRIDGE_TOKEN"
RANDOM = "auto"
LEAST_TOKEN = 8
AUTH_SKEW_S = 5.0  # by which a client's clock may be another one
MAC_FIELDS = ("client", "dest", "rand", "t", "level", "end")


def token_for(host: str, token: str | None) -> str | None:
    """Returns the token of a server: the given one, that of the environment, or a random one where it needs one.

    Raises:
        BadInput: It is too short to be one.
    """
    token = token or os.environ.get(TOKEN_VARIABLE) or None
    if token == RANDOM or (token is None and not is_loopback(host)):
        return secrets.token_urlsafe(24)
    if token is not None and len(token) < LEAST_TOKEN:
        raise BadInput(f"the token has {len(token)} characters; a token has at least {LEAST_TOKEN}, or is {RANDOM}")
    return token


class RosbridgeGate:
    """Decides which connections come in.

    Without a token, only this machine does, and no page of another site in its browser. With one, everybody may who
    says it: as `?token=` in the address, or by the operation `auth`, itself or what rosauth makes of it.

    Args:
        host: The address that the server listens on.
        token: What a client must say, if anything.
    """

    def __init__(self, host: str, token: str | None) -> None:
        self._is_loopback = is_loopback(host)
        self._token = token

    def refusal(self, target: str, host: str, origin: str | None) -> str | None:
        """Returns why a connection does not come in, in one line; None when it does.

        Args:
            target: Path and query of the request.
            host: Its `Host` header.
            origin: Its `Origin` header; programs that are no browsers send none.
        """
        query = parse_qs(urlsplit(target).query)
        if query.get("ros", ["1"])[-1] not in ("1", "2"):
            return "ros is 1 or 2, for the names of fields as in ROS 1 or ROS 2"
        if self._token is not None:
            given = query.get("token", [self._token])[-1]
            return None if _is_same(given, self._token) else "the token is another one"
        if self._is_loopback and not is_loopback(_name(host)):
            return "this server is for this machine only: connect to 127.0.0.1, not to another name of it"
        if origin is not None and origin != "file://" and not is_loopback(_name(origin.partition("//")[2])):
            return "a page of another site needs a token: start with --token auto"
        return None

    def admits(self, target: str) -> bool:
        """Returns whether a connection that came in may do something before it says a token."""
        return self._token is None or "token" in parse_qs(urlsplit(target).query)

    def check(self, asked: Mapping[str, Any]) -> None:
        """Checks the operation `auth`: a `token`, or a `mac` as rosauth makes it.

        Raises:
            BadInput: It is another token.
        """
        if self._token is None:
            return
        if "mac" not in asked:
            given, wanted = asked.get("token"), self._token
        else:
            given, now_s = asked["mac"], time.time()
            parts = [asked.get(key) for key in MAC_FIELDS]
            start_s, end_s = (
                stamp if isinstance(stamp, int | float) and not isinstance(stamp, bool) else 0.0
                for stamp in (asked.get("t"), asked.get("end"))
            )
            if not abs(now_s - start_s) <= AUTH_SKEW_S or not end_s >= now_s:
                raise BadInput("auth is of another time")
            wanted = hashlib.sha512((self._token + "".join(map(str, parts))).encode()).hexdigest()
        if not isinstance(given, str) or not _is_same(given, wanted):
            raise BadInput("the token is another one")


def _is_same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def _name(address: str) -> str:
    """Returns the host of `host:port`."""
    try:
        return urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return ""
