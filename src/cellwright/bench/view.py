"""`cellwright bench view`: the cost of being watched, what a trace weighs and how soon it is seen, first steps."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.bench import view_cost, view_init, view_trace, view_video
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.core.extras import has_extra

__all__ = ["view"]

TARGETS: Mapping[str, Mapping[str, float]] = {
    "view.cost": {"max": 0.15},
    "trace.mb": {"max": 2},
    "trace.open_cpu_s": {"max": 4},
    "video.cpu_s_per_s": {"max": 1.5},
    "init.to_green_s": {"max": 90},
}


@BENCHES.register("view")
def view(conditions: MeasurementConditions) -> Measurement:
    """Measures the share of speed that a watched run loses, traces, and the time to a project whose tests pass.

    `view.cost` is the processor time of the simulating process that a page takes: the page itself has another core.
    """
    has_browser = view_cost.chromium() is not None
    if not has_browser:
        conditions.say("there is no Chromium, or the page was not built: a program reads the live socket")
    found = view_cost.cost(conditions, with_browser=has_browser)
    kind = "browser" if has_browser else "socket"
    metrics = {"view.cost": found[f"{kind}.cpu_share"], **{f"view.{name}": value for name, value in found.items()}}
    metrics |= view_trace.trace(conditions)
    if has_extra("av"):
        metrics["video.cpu_s_per_s"] = view_video.video_cpu_s_per_s(quick=conditions.quick)
    else:
        conditions.say("video.cpu_s_per_s is left out: it needs the extra video")
    metrics["init.to_green_s"] = view_init.init_to_green_s()
    return Measurement(metrics, {name: target for name, target in TARGETS.items() if name in metrics})
