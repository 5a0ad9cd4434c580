"""The viewer's page: one HTML file, bare for the live server, or with the data of a trace in it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from pathlib import Path

from cellwright.core.errors import BadInput

__all__ = ["PAGE_FILE", "viewer_page"]

PAGE_FILE = Path(__file__).parent / "built" / "viewer.html"
BLOCKS = ("scene", "scene-2", "keys", "keys-2", "run", "run-2")
HERE = "<!-- data -->"


def viewer_page(data: Mapping[str, bytes] | None = None) -> str:
    """Returns the page's text, with the blocks of a trace in it; without any it is the live page.

    Args:
        data: Bytes of blocks by their id: `scene` and `keys` are packets, `run` is the document as JSON; of a
            comparison also `keys-2`, `run-2` and, where it is another, `scene-2`.

    Raises:
        BadInput: The page was not built.
    """
    if not PAGE_FILE.is_file():
        raise BadInput(
            "the viewer's page is not built: run `make viewer` in the checkout; it needs Node.js 20 or newer"
        )
    page = PAGE_FILE.read_text(encoding="utf-8")
    if not data:
        return page
    if unknown := sorted(set(data) - set(BLOCKS)):
        raise BadInput(f"the viewer has no block '{unknown[0]}' (available: {', '.join(BLOCKS)})")
    before, here, after = page.partition(HERE)
    return before + "\n".join(_block(name, data[name]) for name in BLOCKS if name in data) + (after if here else "")


def _block(name: str, content: bytes) -> str:
    kind = "application/json" if name.startswith("run") else "application/octet-stream"
    text = base64.b64encode(zlib.compress(content, 9)).decode("ascii")
    return f'<script type="{kind}" id="{name}">{text}</script>'
