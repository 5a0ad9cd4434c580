"""e-pucks over rosbridge: a cell is served, and programs of their own drive a robot, plot a topic, ask for a transform.

Shows:

- `cellwright serve epucks --bridge rosbridge`: the topics of the robots' own driver, for any client of rosbridge
- `mobile/drive.py`: one of the control programs, here follow the leader by transforms, as it would drive a real robot
- `mobile/plot_topic.py`: a live plot of a topic; here it writes a picture, as there may be no display
- `mobile/transform.py`: where a sensor of one robot is in the body of another
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).parent / "mobile"
SERVE = ["-m", "cellwright", "serve", "epucks", "--bridge", "rosbridge", "--any-port", "--json"]


def start(*arguments):
    """Starts a program of the folder beside this one."""
    return subprocess.Popen([sys.executable, str(PROGRAMS / arguments[0]), *arguments[1:]], stdout=subprocess.PIPE)


with (
    tempfile.TemporaryDirectory() as folder,
    subprocess.Popen([sys.executable, *SERVE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server,
):
    address = json.loads(server.stdout.readline())["bridges"]["rosbridge"]
    picture = Path(folder) / "speed.png"
    over, speed = ["--over", f"rosbridge={address}", "--seconds", "6"], ["/ePuck1/odom", "twist.twist.linear.x"]
    leader = start("drive.py", "avoid", "--robot", "ePuck0", *over)
    follower = start("drive.py", "follow_transform", "--robot", "ePuck1", *over)
    plot = start("plot_topic.py", *speed, "--over", address, "--seconds", "3", "--out", str(picture))
    frames = start("transform.py", "ePuck0/base_prox0", "ePuck1/base_link", "--over", address)
    for program in (frames, plot, leader, follower):
        print(program.communicate()[0].decode().strip())
    print(f"a picture of {picture.stat().st_size // 1000} kB")
    server.terminate()
