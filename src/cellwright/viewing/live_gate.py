"""The gate of the live page: which requests come in, by address, token and the site that they are from."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from cellwright.core.errors import BadInput
from cellwright.core.listener import LOOPBACK, is_loopback

__all__ = ["DEFAULT_ADDRESS", "DEFAULT_PORT", "TOKEN_VARIABLE", "Gate"]

DEFAULT_PORT = 8080
DEFAULT_ADDRESS = f"{LOOPBACK}:{DEFAULT_PORT}"
TOKEN_VARIABLE = "CELLWRIGHT_VIEW_TOKEN"
LEAST_TOKEN = 8


@dataclass(frozen=True)
class Gate:
    """Decides who may see the live page.

    On a loopback address a browser's `Host` must be one too: else a page of another site, whose name was made to
    point here, could read along. Everywhere else a token is needed.

    Attributes:
        host: The address that the server listens on.
        token: What a request must have in its address, if anything.
    """

    host: str
    token: str | None

    @classmethod
    def of(cls, host: str) -> Gate:
        """Returns the gate for an address; its token is that of the environment, or a random one where it needs one.

        Raises:
            BadInput: The environment's token is too short to be one.
        """
        token = os.environ.get(TOKEN_VARIABLE) or None
        if token is not None and len(token) < LEAST_TOKEN:
            raise BadInput(f"{TOKEN_VARIABLE} has {len(token)} characters; a token has at least {LEAST_TOKEN}")
        return cls(host, token or (None if is_loopback(host) else secrets.token_urlsafe(24)))

    def refusal(self, target: str, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
        """Returns why a request does not come in, in one line; None when it does.

        Args:
            target: Path and query of the request.
            hosts: Its `Host` headers.
            origins: Its `Origin` headers; programs that are no browsers send none.
        """
        if len(hosts) != 1 or len(origins) > 1:
            return "a request has one Host and at most one Origin"
        if is_loopback(self.host) and not is_loopback(_name(hosts[0])):
            return f"this page is for this machine only: open it at http://{LOOPBACK}, not by another name"
        try:
            query, site = urlsplit(target).query, urlsplit(origins[0]).netloc if origins else hosts[0]
        except ValueError:
            return "the address of this request is none"
        if site.lower() != hosts[0].lower():
            return "another site's page may not look at this one"
        if self.token is not None:
            given = parse_qs(query).get("token", [""])[-1]
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                return "this page needs its token: open it with the whole address that the run has printed"
        return None


def _name(host: str) -> str:
    """Returns the name in a `Host` header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
