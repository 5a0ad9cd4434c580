"""Databases of three kinds for the same tests: SQLite files, and private servers that run as long as the tests do."""

import getpass
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from cellwright.knowledge import Database
from cellwright.knowledge.history import METADATA

FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/lib/postgresql/15/bin", "/usr/local/bin"])
START_S = 180.0  # a busy machine; after a kill the server first recovers what it had


def program(name):
    """The path of a server's program, wherever Debian puts it."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(name, path=os.pathsep.join([*map(str, newest), FOLDERS]))
    if found is None:
        pytest.skip(f"{name} is not installed: run scripts/install-peers")
    return found


class Server:
    """A server of our own: a folder, a port, a process. Its files belong to the user it runs as."""

    user = None
    death = signal.SIGKILL

    def __init__(self, driver):
        pytest.importorskip(driver.split("+")[1], reason=f"the driver of {driver} is not installed")
        self.driver, self.process, self.numbers = driver, None, itertools.count()
        self.folder = Path(tempfile.mkdtemp(prefix="cw-db-"))  # short: addresses of sockets are limited
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.remove()
            raise

    def run(self, *arguments):
        done = subprocess.run(arguments, capture_output=True, text=True, cwd=self.folder, **self.rights())
        assert done.returncode == 0, f"{arguments[0]}: {done.stdout[-2000:]} {done.stderr[-2000:]}"

    def rights(self):
        return {} if self.user is None else {"user": self.user, "group": "nogroup", "extra_groups": []}

    def launch(self):
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder, **self.rights())

    def start(self):
        self.launch()
        end_s = time.monotonic() + START_S
        while True:
            try:
                return self.execute("SELECT 1")
            except Exception:
                if time.monotonic() > end_s:
                    raise
                if self.process.poll() is not None:  # what is left of the one before it is still on its way out
                    self.launch()
                time.sleep(0.1)

    def execute(self, *statements):
        engine = create_engine(self.url(self.first), isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                for statement in statements:
                    connection.execute(text(statement))
        finally:
            engine.dispose()

    def url(self, database, user="cell:secret"):
        return f"{self.driver}://{user}@127.0.0.1:{self.port}/{database}"

    def kill(self):
        """Ends it without a farewell to its clients."""
        self.process.send_signal(self.death)
        self.process.wait()

    def freeze(self):
        """Stops it where it is: its connections stay open, without answers. Returns how to let it go on."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        processes = [self.process.pid, *map(int, children)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)

        def thaw():
            for process in processes:
                os.kill(process, signal.SIGCONT)

        return thaw

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()  # nothing that it could still write is needed
        for _ in range(50):  # its helper processes may still be on their way out
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
            time.sleep(0.1)


class MariaDb(Server):
    first = "mysql"

    def prepare(self):
        self.server = program("mariadbd")
        user = f"--user={getpass.getuser()}"
        self.run(
            program("mariadb-install-db"), "--no-defaults", f"--datadir={self.folder}/data", user,
            "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-use-native-aio=0",
        )  # fmt: skip
        begin = self.folder / "begin.sql"
        begin.write_text(
            "CREATE USER IF NOT EXISTS cell@'%' IDENTIFIED BY 'secret';\nGRANT ALL ON *.* TO cell@'%';\n"  # a line each
        )

    def command(self):
        return [
            self.server, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/socket",
            f"--port={self.port}", "--bind-address=127.0.0.1", f"--user={getpass.getuser()}", "--skip-log-bin",
            f"--pid-file={self.folder}/pid", f"--init-file={self.folder}/begin.sql", "--skip-name-resolve",
            "--innodb-use-native-aio=0",
        ]  # fmt: skip

    def make(self):
        """Empties the one that there is: making 120 tables takes seconds."""
        tables = [f"`{name}`" for name in METADATA.tables]
        if next(self.numbers) == 0:
            self.execute("CREATE DATABASE cw", "CREATE DATABASE new")
            Database(self.url("cw")).close()
            self.execute(*(f"CREATE TABLE new.{name} AS SELECT * FROM cw.{name}" for name in tables))
        else:
            clear = [f"DELETE FROM cw.{name}" for name in tables]
            fill = [f"INSERT INTO cw.{name} SELECT * FROM new.{name}" for name in tables]
            self.execute("SET foreign_key_checks = 0", *clear, *fill)
        return self.url("cw")


class PostgreSql(Server):
    first = "postgres"
    death = signal.SIGQUIT  # its many processes go at once
    template = None

    def prepare(self):
        if os.getuid() == 0:  # it refuses to run as root
            self.user = "nobody"
            shutil.chown(self.folder, "nobody", "nogroup")
        self.server = program("postgres")
        secret = self.folder / "secret"
        secret.write_text("secret\n")
        if self.user:
            shutil.chown(secret, "nobody", "nogroup")
        self.run(
            program("initdb"), "-D", f"{self.folder}/data", "-U", "cell", f"--pwfile={secret}", "-A", "scram-sha-256",
            "-E", "UTF8", "--locale=C",
        )  # fmt: skip

    def command(self):
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder), "port": self.port}
        return [self.server, "-D", f"{self.folder}/data", *(f"--{name}={value}" for name, value in settings.items())]

    def make(self):
        if self.template is None:
            self.execute("CREATE DATABASE cw_template")
            Database(self.url("cw_template")).close()
            self.template = "cw_template"
        name = f"cw{next(self.numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        return self.url(name)


@pytest.fixture(scope="session")
def mariadb():
    server = MariaDb("mysql+pymysql")
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgresql():
    server = PostgreSql("postgresql+psycopg")
    yield server
    server.remove()


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory):
    """A new database as a file to copy, because making 120 tables takes a second."""
    path = tmp_path_factory.mktemp("database") / "empty.db"
    Database(path).close()
    return path


@pytest.fixture
def file(tmp_path, empty_file):
    """A new SQLite database."""
    return shutil.copy(empty_file, tmp_path / "world.db")


@pytest.fixture(params=["sqlite", *(pytest.param(n, marks=pytest.mark.peer) for n in ("mariadb", "postgresql"))])
def url(request):
    """A new database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('file')}"
    return request.getfixturevalue(request.param).make()


@pytest.fixture
def database(url):
    opened = Database(url)
    yield opened
    opened.close()
