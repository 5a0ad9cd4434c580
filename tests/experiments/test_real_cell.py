"""The second process that plays the real cell ends with the one that began it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

LEAVES = """
import os
from cellwright.experiments.real_cell import RealCell
print(RealCell("aprs@calibrated", 1).crcl["fanuc"], flush=True)
os._exit(0)
"""


def test_it_ends_with_a_process_that_dies():
    told = subprocess.run([sys.executable, "-c", LEAVES], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    host, port = told.stdout.split()[-1].split(":")
    end_s = time.monotonic() + 10.0
    while time.monotonic() < end_s:
        try:
            socket.create_connection((host, int(port)), 1.0).close()
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("it still serves")
