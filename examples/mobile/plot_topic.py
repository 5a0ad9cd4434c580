"""Plots numbers of a topic live, as rqt_plot does: from a rosbridge server, with matplotlib, also without a display.

    python plot_topic.py /ePuck0/imu linear_acceleration.z
    python plot_topic.py /ePuck0/proximity0 range --seconds 10 --out range.png

Without --out it opens a window. With it, the picture is written at the end, and no display is needed.
"""

import argparse
import difflib
import sys
import time
from collections import deque

import matplotlib
import roslibpy

from cellwright.core.errors import CellwrightError
from cellwright.core.listener import host_and_port

SHOWN_S = 20.0


def number_of(message, field):
    """Returns the number at a place such as `pose.pose.position.x` or `ranges.3`."""
    for name in field.split("."):
        message = message[int(name) if isinstance(message, list) else name]
    return float(message)


def main():
    parser = argparse.ArgumentParser(description="Plots numbers of a topic live.")
    parser.add_argument("topic")
    parser.add_argument("fields", nargs="+", help="such as linear_acceleration.z or ranges.3")
    parser.add_argument("--over", default="127.0.0.1:9090", help="HOST:PORT of the rosbridge server")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="real time until it ends")
    parser.add_argument("--out", help="the picture's file; no window then")
    arguments = parser.parse_args()
    if arguments.out:
        matplotlib.use("Agg")
        if arguments.seconds == float("inf"):
            sys.exit("plot_topic.py: --out needs --seconds")
    from matplotlib import pyplot

    points = {field: deque(maxlen=20_000) for field in arguments.fields}
    wrong = []

    def take(message):
        stamp = message["header"]["stamp"]
        time_s = stamp.get("secs", stamp.get("sec", 0)) + stamp.get("nsecs", stamp.get("nanosec", 0)) / 1e9
        for field in arguments.fields:
            try:
                points[field].append((time_s, number_of(message, field)))
            except (KeyError, IndexError, ValueError, TypeError):
                wrong.append(f"{arguments.topic} has no number at '{field}'; its fields: {', '.join(message)}")

    try:
        host, port = host_and_port(arguments.over.removeprefix("ws://").removeprefix("rosbridge="), "--over", 9090)
        client = roslibpy.Ros(host, port)
        client.run(timeout=5)
    except CellwrightError as error:
        sys.exit(f"plot_topic.py: {error}")
    except Exception:
        sys.exit(f"plot_topic.py: no rosbridge server answers at {arguments.over}")
    kind = client.get_topic_type(arguments.topic)
    if not kind:
        near = difflib.get_close_matches(arguments.topic, client.get_topics(), n=3, cutoff=0.3)
        sys.exit(
            f"plot_topic.py: nobody publishes {arguments.topic}; is it {' or '.join(near) or 'of another server'}?"
        )
    roslibpy.Topic(client, arguments.topic, kind).subscribe(take)

    figure, panel = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    lines = {field: panel.plot([], [], label=field, linewidth=1)[0] for field in arguments.fields}
    panel.set(xlabel="time [s]", ylabel=arguments.topic)
    panel.grid(alpha=0.3)
    figure.legend(loc="outside upper right", ncols=len(lines))

    def draw():
        for field, line in lines.items():
            taken = list(points[field])
            shown = [point for point in taken if point[0] > taken[-1][0] - SHOWN_S]
            line.set_data([t for t, _ in shown], [value for _, value in shown])
        panel.relim()
        panel.autoscale_view()

    end_s = time.monotonic() + arguments.seconds
    while time.monotonic() < end_s and not wrong and (arguments.out or pyplot.fignum_exists(figure.number)):
        if arguments.out:
            time.sleep(0.05)
        else:
            draw()
            pyplot.pause(0.1)
    client.terminate()
    if wrong:
        sys.exit(f"plot_topic.py: {wrong[0]}")
    draw()
    if arguments.out:
        figure.savefig(arguments.out, dpi=110)
    for field, taken in points.items():
        values = [value for _, value in taken]
        print(
            f"{arguments.topic}.{field}: {len(values)} values, {min(values):.4g} to {max(values):.4g}" if values else ""
        )


if __name__ == "__main__":
    main()
