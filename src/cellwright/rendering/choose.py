"""The choice of a renderer: OpenGL where it works, else compiled code where numba is installed, else rays."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.extras import has_extra, need_extra
from cellwright.rendering.gl import GlRenderer
from cellwright.rendering.probe import GL_PLATFORMS, probe
from cellwright.rendering.ray import RayRenderer
from cellwright.rendering.renderer import Renderer
from cellwright.rendering.soft import SoftRenderer

__all__ = ["RendererStatus", "available_renderers", "choose_renderer"]

VARIABLE = "CELLWRIGHT_RENDERER"
INSTALL = "pip install 'cellwright[cameras]'"


@dataclass(frozen=True)
class RendererStatus:
    """The state of a renderer for `cellwright doctor`: whether it works, why, and which Debian packages would help."""

    name: str
    works: bool
    reason: str
    debian_packages: tuple[str, ...] = ()


def available_renderers() -> list[RendererStatus]:
    """Returns every renderer with its state, the preferred one first."""
    statuses = []
    for platform, packages in GL_PLATFORMS.items():
        answer = probe(platform)
        statuses.append(RendererStatus(platform, answer.works, answer.reason, () if answer.works else packages))
    works = has_extra("numba")
    reason = "compiled code on the processor" if works else f"numba is not installed: {INSTALL}"
    statuses.append(RendererStatus("soft", works, reason))
    return [*statuses, RendererStatus("ray", True, "needs nothing but the processor")]


def choose_renderer(name: str | None = None, *, repeatable: bool = False) -> Renderer:
    """Returns the renderer of that name, or of the variable CELLWRIGHT_RENDERER, or the best that works.

    Args:
        name: `gl` (whichever platform works), `egl`, `osmesa`, `soft` or `ray`; None leaves the choice to the
            variable and, where that is not set, to what works here.
        repeatable: Prefers `soft`, which gives the same bits every time, to OpenGL, where the choice is left; for
            pictures on which something is decided.
    """
    where = "" if name else VARIABLE
    wish = name or os.environ.get(VARIABLE, "").strip().lower() or "auto"
    platforms = {"auto": tuple(GL_PLATFORMS), "gl": tuple(GL_PLATFORMS), **{p: (p,) for p in GL_PLATFORMS}}
    choices = {**platforms, "soft": (), "ray": ()}
    if wish not in choices:
        raise UnknownName("renderer", wish, set(choices) - {"auto"}, where)
    if wish == "auto" and repeatable and has_extra("numba"):
        wish = "soft"
    for platform in choices[wish]:
        if probe(platform).works:
            return _renderer(platform)
    if wish == "soft" or (wish == "auto" and has_extra("numba")):
        need_extra("the renderer 'soft'", "cameras", "numba")
        return _renderer("soft")
    if wish in ("auto", "ray"):
        return _renderer("ray")
    tried = "; ".join(f"{p}: {probe(p).reason} (Debian: {' '.join(GL_PLATFORMS[p])})" for p in choices[wish])
    raise BadInput(f"renderer '{wish}' does not work here: {tried}; 'ray' always does")


@functools.cache
def _renderer(name: str) -> Renderer:
    own: dict[str, type[Renderer]] = {"ray": RayRenderer, "soft": SoftRenderer}
    return own[name]() if name in own else GlRenderer(name)
