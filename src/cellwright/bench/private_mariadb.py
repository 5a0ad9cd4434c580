"""A temporary MariaDB server, in a folder that is removed afterwards; for measurements, where the program is there."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cellwright.bench.result import MeasurementFailed

__all__ = ["private_mariadb"]

PLACES = os.pathsep.join(["/usr/sbin", "/usr/local/sbin", os.environ.get("PATH", "")])
START_S = 60.0
SETTING = ["--innodb-use-native-aio=0"]


@contextmanager
def private_mariadb() -> Iterator[str | None]:
    """Yields the address of an empty database, None where MariaDB is not installed.

    Raises:
        MeasurementFailed: It is installed and does not start.
    """
    server, installer = (shutil.which(name, path=PLACES) for name in ("mariadbd", "mariadb-install-db"))
    if server is None or installer is None:
        yield None
        return
    user = f"--user={getpass.getuser()}"
    with tempfile.TemporaryDirectory(prefix="cw-db-") as name:
        folder = Path(name)
        data, gate = f"--datadir={folder}/data", folder / "socket"
        (folder / "begin.sql").write_text("CREATE DATABASE bench;\n", encoding="utf-8")
        made = [installer, "--no-defaults", data, user, "--auth-root-authentication-method=normal", "--skip-test-db"]
        with (folder / "log").open("wb") as log:
            subprocess.run([*made, *SETTING], stdout=log, stderr=log, check=False)
            command = [
                server, "--no-defaults", data, user, f"--socket={gate}", f"--init-file={folder}/begin.sql",
                "--skip-networking", "--skip-log-bin", "--skip-grant-tables", f"--pid-file={folder}/pid", *SETTING,
            ]  # fmt: skip
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(gate, process, folder / "log")
            yield f"mysql+pymysql://root@localhost/bench?unix_socket={gate}"
        finally:
            process.terminate()
            process.wait()


def _wait(gate: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s and process.poll() is None:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(gate))
                return
            except OSError:
                time.sleep(0.1)
    last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    raise MeasurementFailed("MariaDB", f"does not start: {' '.join(last)}")
