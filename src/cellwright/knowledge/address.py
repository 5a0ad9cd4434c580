"""Addresses of databases: parsed, and redacted for output."""

from __future__ import annotations

import re

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from cellwright.core.extras import need_extra
from cellwright.knowledge.errors import DatabaseError

__all__ = ["ALLOWED", "DRIVER_MODULES", "need_driver", "parse", "redacted", "redacted_address"]

HARMLESS = ("charset", "unix_socket", "mode", "uri", "host", "port", "sslmode", "connect_timeout")
"""Options whose values are shown; drivers take passwords among them, too, and a mistyped one is a password as well."""
DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql", "postgresql": "postgresql+psycopg"}
DRIVER_MODULES = {
    "mysql": ("mariadb", "pymysql"), "mariadb": ("mariadb", "pymysql"), "postgresql": ("postgresql", "psycopg"),
}  # fmt: skip
"""Server -> the extra with its driver, and the driver's module."""
NO_PATH = re.compile(r"[a-z0-9+]+:.*@", re.IGNORECASE)
ALLOWED = "a path, sqlite:///FILE, mysql+pymysql://..., mariadb+pymysql://... or postgresql+psycopg://..."


def parse(address: str) -> URL:
    """Returns the address in its parts; the error for one that cannot be parsed has no password in it.

    Raises:
        DatabaseError: It is none, or has a password with a character that ends it.
    """
    scheme, _, rest = address.partition(":")
    place = f"{scheme}://{rest.lstrip('/').rsplit('@', 1)[-1].split('?')[0]}"
    if "://" not in address:
        if NO_PATH.match(address):  # it would become the name of a file, with the password in it
            raise DatabaseError(place, f"not an address: // is missing; allowed: {ALLOWED}")
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise DatabaseError(place, f"not an address; allowed: {ALLOWED}") from None
    if "@" in f"{url.host}{url.database}" and url.get_backend_name() != "sqlite":
        raise DatabaseError(place, "not an address: in a user or password write @ as %40, / as %2F, : as %3A")
    return url.set(drivername=DRIVERS.get(url.drivername, url.drivername))


def need_driver(address: str) -> None:
    """Refuses an address for whose server no driver is installed.

    Raises:
        DatabaseError: It is no address.
        MissingExtra: The driver of this server is not installed.
    """
    backend = parse(address).get_backend_name()
    if backend in DRIVER_MODULES:
        extra, module = DRIVER_MODULES[backend]
        need_extra(f"a database at {backend}://", extra, module)


def redacted(url: URL) -> str:
    """Returns the address without its password, which drivers also take among the options."""
    hidden = {name: "..." for name in url.query if name not in HARMLESS}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def redacted_address(address: str) -> str:
    """Returns an address as a user gives it without its password; a path stays a path."""
    return redacted(parse(address)) if "://" in address else address
