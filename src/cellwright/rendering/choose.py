"""The choice of a renderer: OpenGL where it works, else compiled code where numba is installed, else rays."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.extras import has_extra, need_extra
from cellwright.rendering.gl import GlRenderer
from cellwright.rendering.probe import GL_PLATFORMS, probe
from cellwright.rendering.ray import RayRenderer
from cellwright.rendering.shot import RGB, Shot
from cellwright.rendering.soft import SoftRenderer
from cellwright.rendering.view import Frustum, View

__all__ = ["Renderer", "RendererStatus", "available_renderers", "choose_renderer"]

VARIABLE = "CELLWRIGHT_RENDERER"
INSTALL = "pip install 'cellwright[cameras]'"


class Renderer(Protocol):
    """The interface of renderers."""

    name: str

    def render(self, model: Any, data: Any, view: View, size: tuple[int, int] = (1280, 720)) -> npt.NDArray[np.uint8]:
        """Returns the picture as (height, width, 3)."""

    def shoot(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        *,
        exposure: float = 1.0,
        layers: tuple[str, ...] = (RGB,),
    ) -> Shot:
        """Returns the layers of a picture that are asked for, light scaled by the exposure before it is cut off."""

    def close(self) -> None:
        """Frees what it holds; it may draw again afterwards."""


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


def choose_renderer(name: str | None = None) -> Renderer:
    """Returns the renderer of that name, or of the variable CELLWRIGHT_RENDERER, or the best that works.

    Args:
        name: `gl` (whichever platform works), `egl`, `osmesa`, `soft` or `ray`; None leaves the choice to the
            variable and, where that is not set, to what works here.
    """
    where = "" if name else VARIABLE
    wish = name or os.environ.get(VARIABLE, "").strip().lower() or "auto"
    platforms = {"auto": tuple(GL_PLATFORMS), "gl": tuple(GL_PLATFORMS), **{p: (p,) for p in GL_PLATFORMS}}
    choices = {**platforms, "soft": (), "ray": ()}
    if wish not in choices:
        raise UnknownName("renderer", wish, set(choices) - {"auto"}, where)
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
