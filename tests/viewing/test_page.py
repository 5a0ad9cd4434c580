"""The viewer's page as Python fills it: bare, with the data of a trace, not built."""

import base64
import re
import zlib

import pytest

from cellwright.core.errors import BadInput
from cellwright.viewing import page

BARE = "<body><main></main>\n<!-- data -->\n<script>start()</script></body>"


@pytest.fixture
def built(tmp_path, monkeypatch):
    file = tmp_path / "viewer.html"
    file.write_text(BARE, encoding="utf-8")
    monkeypatch.setattr(page, "PAGE_FILE", file)
    return file


def test_a_live_page_is_as_it_was_built(built):
    assert page.viewer_page() == BARE


def test_blocks_of_a_trace_come_before_the_script_and_can_be_read_back(built):
    data = {"run": b'{"about": {}}', "scene": bytes(range(256)), "keys": b"\0" * 9}
    text = page.viewer_page(data)
    blocks = re.findall(
        r'<script type="application/(octet-stream|json)" id="([a-z0-9-]+)">([A-Za-z0-9+/=]+)</script>', text
    )
    assert {name: zlib.decompress(base64.b64decode(packed)) for _, name, packed in blocks} == data
    assert [(kind, name) for kind, name, _ in blocks] == [
        ("octet-stream", "scene"),
        ("octet-stream", "keys"),
        ("json", "run"),
    ]
    assert text.index('id="run"') < text.index("start()")


def test_a_block_that_no_page_reads_is_refused(built):
    with pytest.raises(BadInput, match="no block 'poses'"):
        page.viewer_page({"poses": b""})


def test_a_page_that_was_not_built_names_the_remedy(built):
    built.unlink()
    with pytest.raises(BadInput, match=r"make viewer.*Node"):
        page.viewer_page()
