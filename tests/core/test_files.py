"""Files that are written whole or not at all."""

from __future__ import annotations

import pytest

from cellwright.core.files import write_whole

resource = pytest.importorskip("resource", reason="this system has no limits of files")


@pytest.fixture
def small_disk():
    """No file may have more than 1000 bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_an_older_file_stays_and_no_part_of_the_new_one(tmp_path, small_disk):
    file = tmp_path / "run.html"
    write_whole(file, b"a" * 900)
    with pytest.raises(OSError, match="File too large"):
        write_whole(file, b"b" * 5000)
    assert file.read_bytes() == b"a" * 900
    assert [*tmp_path.iterdir()] == [file]
