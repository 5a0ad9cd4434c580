"""Times of another clock as simulated ones: time stamps mapped by when their messages arrived."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

__all__ = ["TimeMap"]

Array = npt.NDArray[np.float64]

WINDOW_S = 10.0
FEWEST, SPAN_S = 8, 1.0  # messages, and the time that they take, from which the pace of the other clock is told
FIT_EVERY = 5  # messages
STEP_S = 0.25  # by which a clock has jumped when messages come so much earlier or, all of them, later
STEP_SEEN_S = 1.0  # for so long they must, if it is later: one that is held up comes late, too
PACES = (0.1, 10.0)  # simulated seconds per second of the other clock


class TimeMap:
    """Maps time stamps of another clock to simulated time, by pairs of time stamp and arrival.

    No message arrives before it was sent, so all pairs lie above the line ``arrival = start + pace * stamp`` that maps
    stamps to times, and those that were fastest lie on it. The line is the edge of their lower hull below their middle,
    which follows a clock that is faster or slower; a clock that jumps or begins anew begins a new line. What no pair
    can tell is how long the fastest message took: `least_s` has to say that.

    Attributes:
        restarts: Counts the jumps of the other clock.
        messages: Counts the pairs.

    Args:
        least_s: From the measurement to the arrival of the fastest message.
        window_s: For how long pairs count.
    """

    def __init__(self, least_s: float = 0.0, window_s: float = WINDOW_S) -> None:
        self.restarts = self.messages = 0
        self._least_s, self._window_s = least_s, window_s
        self._pairs: deque[tuple[float, float]] = deque()
        self._start_s, self._pace = 0.0, 1.0
        self._told_s = -np.inf

    def take(self, stamp_s: float, arrival_s: float) -> float:
        """Takes in a message; returns its time stamp in simulated time, never after its arrival, never going back."""
        self.messages += 1
        if self._pairs and self._jumped(stamp_s, arrival_s):
            self.restarts += 1
        pairs = self._pairs
        pairs.append((stamp_s, arrival_s))
        while pairs[0][1] < arrival_s - self._window_s:
            pairs.popleft()
        self._fit()
        self._told_s = min(max(self._told_s, self.at(stamp_s)), arrival_s)
        return self._told_s

    def at(self, stamp_s: float) -> float:
        """Returns a time of the other clock in simulated time."""
        return self._start_s + self._pace * stamp_s - self._least_s

    @property
    def latency_s(self) -> float:
        """The mean delay of messages beyond the least."""
        return float(self._delays.mean()) if self._pairs else 0.0

    @property
    def jitter_s(self) -> float:
        """The standard deviation of their delay."""
        return float(self._delays.std()) if self._pairs else 0.0

    @property
    def uncertainty_s(self) -> float:
        """By which times may be wrong beside the least delay: most messages while there are few, later a quarter."""
        if len(self._pairs) < FEWEST:
            return STEP_S
        return float(np.quantile(self._delays, 0.25))

    @property
    def _delays(self) -> Array:
        """The delays of the messages beyond that of the fastest."""
        stamps, arrivals = np.array(self._pairs).T
        result: Array = arrivals - (self._start_s + self._pace * stamps)
        return result

    def _jumped(self, stamp_s: float, arrival_s: float) -> bool:
        """Returns whether the other clock has jumped, and forgets the messages from before."""
        pairs, delay_s = self._pairs, arrival_s - (self._start_s + self._pace * stamp_s)
        if stamp_s < pairs[-1][0] or (delay_s < -STEP_S and not self._is_faster(stamp_s, arrival_s)):
            pairs.clear()
            return True
        if delay_s <= STEP_S:
            return False
        lately = [(stamp, arrival) for stamp, arrival in pairs if arrival >= arrival_s - STEP_SEEN_S]
        has_earlier = len(lately) < len(pairs)
        late = [arrival - (self._start_s + self._pace * stamp) > STEP_S for stamp, arrival in lately]
        if has_earlier and all(late) and len(late) >= FEWEST // 2:
            pairs.clear()
            pairs.extend(lately)
            return True
        return False

    def _is_faster(self, stamp_s: float, arrival_s: float) -> bool:
        """Returns whether a message that came early is explained by another pace, as well as those before it."""
        stamps, arrivals = np.array([*self._pairs, (stamp_s, arrival_s)]).T
        pace = _pace(stamps, arrivals)
        delays = arrivals - pace * stamps
        if not PACES[0] <= pace <= PACES[1] or np.ptp(delays) > STEP_S:
            return False
        self._pace = pace
        return True

    def _fit(self) -> None:
        stamps, arrivals = np.array(self._pairs).T
        if self.messages % FIT_EVERY == 0 and len(stamps) >= FEWEST and arrivals[-1] - arrivals[0] > SPAN_S:
            self._pace = float(np.clip(_pace(stamps, arrivals), *PACES))
        self._start_s = float((arrivals - self._pace * stamps).min())


def _pace(stamps: Array, arrivals: Array) -> float:
    """Returns the slope of the edge of the lower hull below the middle of some pairs."""
    hull: list[int] = []
    for number in range(len(stamps)):
        while len(hull) > 1 and _is_above(stamps, arrivals, hull[-2], hull[-1], number):
            hull.pop()
        hull.append(number)
    after = max(int(np.searchsorted(stamps[hull], stamps.mean())), 1)
    if len(hull) < 2 or stamps[hull[after]] <= stamps[hull[after - 1]]:
        return 1.0
    last, first = hull[after], hull[after - 1]
    return float((arrivals[last] - arrivals[first]) / (stamps[last] - stamps[first]))


def _is_above(x: Array, y: Array, first: int, middle: int, last: int) -> bool:
    """Returns whether a point is not below the line between two others, on either side of it."""
    return bool((y[middle] - y[first]) * (x[last] - x[first]) >= (y[last] - y[first]) * (x[middle] - x[first]))
