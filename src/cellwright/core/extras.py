"""Checks for optional packages, made before the work that needs them begins."""

from __future__ import annotations

from importlib.util import find_spec

from cellwright.core.errors import MissingExtra

__all__ = ["has_extra", "need_extra"]


def has_extra(*modules: str) -> bool:
    """Returns whether all modules of optional packages are installed; they are not imported."""
    return all(find_spec(module) is not None for module in modules)


def need_extra(feature: str, extra: str, *modules: str) -> None:
    """Raises an error unless the optional packages of a feature are installed.

    Args:
        feature: The feature that needs them.
        extra: The extra of this package that brings them.
        modules: Their modules.

    Raises:
        MissingExtra: One is not installed; says how to get it.
    """
    if not has_extra(*modules):
        raise MissingExtra(feature, extra)
