"""A controller of your own over rosbridge: roslibpy and nothing of Cellwright; the same lines drive a real robot.

Shows:

- `cellwright serve epucks --bridge rosbridge`: a cell as a ROS graph, without ROS
- topics of a robot's own driver: odometry that is read, speeds that are published
- services of the laboratory, and one that the controller offers to others
"""

import json
import subprocess
import sys
import threading

import roslibpy

SERVE = ["-m", "cellwright", "serve", "epucks", "--bridge", "rosbridge", "--any-port", "--json"]
ROBOT, GOAL_M, SPEED_MPS, PATIENCE_S = "/ePuck0", 0.05, 0.06, 60


def drive(client):
    """Drives ahead until odometry reports the distance; returns where it was at each message."""
    places, there = [], threading.Event()
    odometry = roslibpy.Topic(client, f"{ROBOT}/odom", "nav_msgs/Odometry")
    speeds = roslibpy.Topic(client, f"{ROBOT}/cmd_vel", "geometry_msgs/Twist")

    def watch(message):
        places.append(message["pose"]["pose"]["position"])
        way_m = ((places[-1]["x"] - places[0]["x"]) ** 2 + (places[-1]["y"] - places[0]["y"]) ** 2) ** 0.5
        speeds.publish({"linear": {"x": SPEED_MPS if way_m < GOAL_M else 0.0}})
        if way_m >= GOAL_M:
            there.set()

    odometry.subscribe(watch)
    there.wait(PATIENCE_S)
    odometry.unsubscribe()
    return places


def offer(client, name, answer):
    """Offers a service of type `std_srvs/Trigger`, which any other client may call."""

    def respond(_request, response):
        response.update(success=True, message=answer())
        return True

    service = roslibpy.Service(client, name, "std_srvs/Trigger")
    service.advertise(respond)
    return service


def call(client, name):
    return roslibpy.Service(client, name, "std_srvs/Trigger").call(roslibpy.ServiceRequest(), timeout=PATIENCE_S)


with subprocess.Popen([sys.executable, *SERVE], stdout=subprocess.PIPE) as server:
    address = json.loads(server.stdout.readline())["bridges"]["rosbridge"]
    controller, operator = roslibpy.Ros(address), roslibpy.Ros(address)
    for one in (controller, operator):
        one.run()
    places = drive(controller)
    print(f"{len(places)} messages, stopped after {1000 * GOAL_M:.0f} mm")
    service = offer(controller, "/my_controller/report", lambda: f"at x {places[-1]['x']:.2f} m")
    while "/my_controller/report" not in operator.get_services():
        pass
    print("the operator is told:", call(operator, "/my_controller/report")["message"])
    print("paused:", call(operator, "/cellwright/pause")["success"], operator.get_time() == operator.get_time())
    for one in (controller, operator):
        one.close()
    server.terminate()
