"""Circles fitted to the edges of a picture, and what is inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.perception.recognition.circles import CircleGuess
from cellwright.perception.recognition.clean import SmallPicture
from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.recognition.middle import middle_of

__all__ = ["FittedCircle", "fit_circles", "parabola_peak", "points_about", "with_insides"]

Array = npt.NDArray[np.float64]
ANGLES, OFFSETS, INNER = 72, 29, 9
REACH, WINDOW = 0.28, 0.12  # how far an edge is looked for, over what its step is measured; shares of the radius
TOLERANCE = 0.055  # of the radius: an edge farther off the fitted circle is none of it
ROUNDS = 3
ALONG = 3  # neighbouring angles that are taken together: about one tooth of a gear
INNERMOST = 0.4  # of the strongest step of a direction: a weaker one is no edge
OTHER_SIZE = 1.0  # what a fit of another size than the one looked for loses of its share
GOOD = 0.8  # share of a circle after which no other kind of edge is tried
WEAK = 0.3  # of the usual step of a circle: what is weaker is no edge of it
COLOURED = 0.12  # difference of colours that makes a disc another thing than what it lies on
RINGS = 0.35  # how much darker or brighter the middle may be in most directions: what has a hole is no disc
DARKER = 0.12  # the same for brightness, where it is even


@dataclass(frozen=True)
class FittedCircle:
    """A circle as it was fitted, at the height of the map.

    Attributes:
        xy_m: Its centre.
        radius_m: Its radius.
        share: How much of it has an edge where it should be.
        spread_m: Standard deviation of its edges about it.
        contrast: How much the colour inside differs from that around it.
        shade: How much brightness differs, as a logarithm.
        unevenness: How much the brightness inside, or its step to what is outside, differs from one direction to
            another: a shadow may lie across both.
        solid: Share of the inside that is of one colour.
    """

    xy_m: Array
    radius_m: float
    share: float
    spread_m: float
    contrast: float
    shade: float
    unevenness: float
    solid: float

    @property
    def is_coloured(self) -> bool:
        """Whether it has another colour than what is around it, not only another brightness."""
        return self.contrast > COLOURED

    @property
    def is_disc(self) -> bool:
        """Whether a disc of another colour lies there, and no hole in a plate."""
        return self.is_coloured or (abs(self.shade) > DARKER and self.unevenness < abs(self.shade))


def fit_circles(
    small: SmallPicture, lens: CalibratedLens, guesses: Sequence[CircleGuess], height_m: float
) -> list[FittedCircle]:
    """Returns circles fitted to the edges about these guesses, one for each, at the height of the map."""
    if not guesses:
        return []
    centres = np.array([(guess.x_m, guess.y_m) for guess in guesses])
    radii = np.array([guess.radius_m for guess in guesses])
    wanted = radii
    angles = 2 * np.pi * (np.arange(ANGLES) + 0.5) / ANGLES
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    offsets = np.linspace(-REACH, REACH, OFFSETS)
    for number in range(ROUNDS):
        steps, signed = _steps(small, lens, centres, radii, ways, offsets, height_m)
        moved = _fit(steps, signed, radii / wanted, ways, offsets, TOLERANCE * (1 + (number == 0)))
        change = np.array([one[0] for one in moved])
        centres = centres + change[:, :2] * radii[:, None]
        radii = radii * (1 + change[:, 2])
    fitted = [
        FittedCircle(centre, float(radius), share, spread * float(radius), 0.0, 0.0, 0.0, 0.0)
        for centre, radius, (_, share, spread) in zip(centres, radii, moved, strict=True)
    ]
    return with_insides(small, lens, fitted, height_m)


def with_insides(
    small: SmallPicture, lens: CalibratedLens, circles: Sequence[FittedCircle], height_m: float
) -> list[FittedCircle]:
    """Returns the circles with what is inside them."""
    angles = 4 * np.pi * (np.arange(ANGLES // 2) + 0.5) / ANGLES
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    centres, radii = np.array([one.xy_m for one in circles]), np.array([one.radius_m for one in circles])
    inside = _insides(small, lens, centres, radii, ways, height_m)
    return [
        replace(circle, contrast=contrast, shade=shade, unevenness=unevenness, solid=solid)
        for circle, (contrast, shade, unevenness, solid) in zip(circles, inside, strict=True)
    ]


def points_about(lens: CalibratedLens, centres: Array, ways: Array, reaches: Array, height_m: float) -> Array:
    """Returns pixels of points about centres: (n, angles, k, 2) for reaches (n, k)."""
    spots = centres[:, None, None, :] + ways[None, :, None, :] * reaches[:, None, :, None]
    return lens.pixels(np.concatenate([spots, np.full((*spots.shape[:-1], 1), height_m)], axis=-1))


def _steps(
    small: SmallPicture,
    lens: CalibratedLens,
    centres: Array,
    radii: Array,
    ways: Array,
    offsets: Array,
    height_m: float,
) -> tuple[Array, Array]:
    """Returns sizes of steps across the circles, (n, angles, offsets), without and with the sign that most have."""
    wide = round(WINDOW / (offsets[1] - offsets[0]))
    found = small.sampled(points_about(lens, centres, ways, radii[:, None] * (1 + offsets), height_m)).astype(float)
    total = np.cumsum(np.concatenate([np.zeros_like(found[:, :, :1]), found], axis=2), axis=2)
    means = (total[:, :, wide:] - total[:, :, :-wide]) / wide
    step = means[:, :, :-wide] - means[:, :, wide:]  # at the offsets from `wide` on, between two samples
    step[~np.isfinite(step)] = 0.0
    step = sum(np.roll(step, turn, axis=1) for turn in range(-(ALONG // 2), ALONG // 2 + 1)) / ALONG
    along = step.mean(axis=1)
    best = np.linalg.norm(along, axis=2).argmax(axis=1)
    usual = along[np.arange(len(along)), best]
    coloured = np.hypot(usual[:, 0], usual[:, 1]) > COLOURED
    usual[coloured, 2] = 0.0  # a shadow is no edge of what has a colour of its own
    usual /= np.maximum(np.linalg.norm(usual, axis=1, keepdims=True), 1e-9)
    return np.linalg.norm(step, axis=3), np.einsum("napk,nk->nap", step, usual)


def _fit(
    sizes: Array, signed: Array, ratios: Array, ways: Array, offsets: Array, tolerance: float
) -> list[tuple[Array, float, float]]:
    """Returns how centres and radii change, in radii, the share of each circle that agrees, and how far it is off.

    Args:
        sizes: Of steps, (n, angles, offsets).
        signed: The same with signs.
        ratios: Of the radius as it is now to the one that is looked for, n.
        ways: Directions of the angles.
        offsets: In radii.
        tolerance: In radii.
    """

    def worth(row: int, fit: tuple[Array, float, float]) -> float:
        return float(fit[1] - OTHER_SIZE * abs(float(ratios[row]) * (1 + fit[0][2]) - 1))

    found = _fit_edges(signed, ways, offsets, tolerance)
    poor = [row for row, fit in enumerate(found) if worth(row, fit) < GOOD]
    if not poor:
        return found
    others = [_fit_edges(steps[poor], ways, offsets, tolerance) for steps in (np.abs(signed), sizes)]
    others.append(_fit_edges(signed[poor], ways, offsets, tolerance, innermost=True))
    for number, row in enumerate(poor):
        tries = [found[row], *(fits[number] for fits in others)]
        found[row] = max(tries, key=lambda fit: worth(row, fit))
    return found


def _fit_edges(
    steps: Array, ways: Array, offsets: Array, tolerance: float, *, innermost: bool = False
) -> list[tuple[Array, float, float]]:
    """Returns fits to the strongest edge in each direction, or to the innermost strong one: outside is a shadow's."""
    wide = round(WINDOW / (offsets[1] - offsets[0]))
    middles = (offsets[wide - 1 : -wide] + offsets[wide : len(offsets) - wide + 1]) / 2
    best = steps.argmax(axis=2)
    if innermost:
        peaks = (steps[..., 1:-1] >= steps[..., :-2]) & (steps[..., 1:-1] >= steps[..., 2:])
        peaks &= steps[..., 1:-1] > INNERMOST * steps.max(axis=2, keepdims=True)
        best = np.where(peaks.any(axis=2), peaks.argmax(axis=2) + 1, best)
    strength = np.take_along_axis(steps, best[..., None], axis=2)[..., 0]
    inner = np.clip(best, 1, steps.shape[2] - 2)
    low, mid, high = (np.take_along_axis(steps, inner[..., None] + k, axis=2)[..., 0] for k in (-1, 0, 1))
    edge = middles[inner] + parabola_peak(low, mid, high) * (offsets[1] - offsets[0])
    edge = np.where(best == inner, edge, middles[best])
    least = np.maximum(WEAK * np.median(strength, axis=1, keepdims=True), 1e-6)
    design = np.column_stack([ways, np.ones(len(ways))])
    return [_fit_circle(*row, design, tolerance) for row in zip(edge, strength > least, strict=True)]


def _fit_circle(
    edge: Array, strong: npt.NDArray[np.bool_], design: Array, tolerance: float
) -> tuple[Array, float, float]:
    """Returns a fit to the strong ones of the edges of all directions."""
    used, result = None, np.array([0.0, 0.0, middle_of(edge[strong]) if strong.any() else 0.0])
    off = edge - design @ result
    for limit in (3.0, 2.0, 1.0):
        last, used = used, strong & (np.abs(off) < limit * tolerance)
        if np.count_nonzero(used) < len(design) // 4:
            break
        if last is None or (used != last).any():  # else it would be the same fit
            some = design[used]
            result = np.linalg.solve(some.T @ some, some.T @ edge[used])
            off = edge - design @ result
    used = strong & (np.abs(off) < tolerance)
    count = np.count_nonzero(used)
    return result, count / len(used), float(off[used].std()) if count else 1.0


def parabola_peak(low: Array, mid: Array, high: Array) -> Array:
    """Returns where the highest point of a parabola through three values is, in steps from the middle one."""
    bend = low - 2 * mid + high
    shift = np.where(bend < -1e-12, 0.5 * (low - high) / np.where(bend < -1e-12, bend, 1.0), 0.0)
    return np.clip(shift, -0.5, 0.5)


def _insides(
    small: SmallPicture, lens: CalibratedLens, centres: Array, radii: Array, ways: Array, height_m: float
) -> list[tuple[float, float, float, float]]:
    """Returns contrast, shade, unevenness and solidity of each circle."""
    reaches = np.concatenate([np.linspace(0.35, 0.82, INNER), [1.12, 1.16, 1.2]])
    found = small.sampled(points_about(lens, centres, ways, radii[:, None] * reaches, height_m)).astype(float)
    results = []
    for one in found:
        inner, outer = one[:, :INNER], one[:, INNER:].reshape(-1, 3)
        whole = np.isfinite(inner).all(axis=(1, 2))
        inner = inner[whole]
        shown = np.isfinite(outer).all(axis=1)
        if whole.mean() < 0.5 or shown.mean() < 0.3:
            results.append((0.0, 0.0, 0.0, 0.0))
            continue
        own, around = np.median(inner.reshape(-1, 3), axis=0), np.median(outer[shown], axis=0)
        contrast, shade = float(np.hypot(*(own - around)[:2])), float((own - around)[2])
        by_angle = np.median(inner[..., 2], axis=1)
        across = np.median(inner[:, -3:, 2], axis=1) - one[whole, INNER:, 2].mean(axis=1)
        unevenness = min(_range(by_angle), _range(across[np.isfinite(across)]))
        grain = 4 * small.noise * max(1.0, float(np.exp(-own[2])))  # ratios of dark colours are noisier
        near = np.hypot(*(inner[..., :2] - own[:2]).reshape(-1, 2).T) < max(0.4 * contrast, 0.08 + grain)
        ring = abs(float(np.median((inner[:, :3] - inner[:, -3:]).mean(axis=1)[:, 2])))
        solid = float(near.mean()) if ring < RINGS else 0.0
        results.append((contrast, shade, unevenness, solid))
    return results


def _range(values: Array) -> float:
    """Returns how far values are apart, but for some at either end."""
    return float(np.subtract(*np.quantile(values, [0.85, 0.15]))) if len(values) else np.inf
