"""Named random streams from one root seed."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from cellwright.core.errors import OutOfRange

__all__ = ["RandomStreams"]


class RandomStreams:
    """One root seed, any number of named, independent generators.

    A stream depends on the seed and its own name only, never on which streams exist or when they were made, so a
    new sensor leaves the noise of every other sensor as it was.
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**63:
            raise OutOfRange("seed", seed, 0, 2**63 - 1)
        self.seed = seed
        self._streams: dict[str, np.random.Generator] = {}

    def stream(self, name: str) -> np.random.Generator:
        """Returns the generator of that name; the same object on every call."""
        if name not in self._streams:
            self._streams[name] = np.random.Generator(self._fresh(name))
        return self._streams[name]

    def snapshot(self) -> dict[str, Any]:
        """Returns the state of every stream in use."""
        return {name: generator.bit_generator.state for name, generator in self._streams.items()}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Puts every stream back, in place; one that was made after the snapshot starts anew."""
        for name in {**self._streams, **snapshot}:
            state = snapshot[name] if name in snapshot else self._fresh(name).state
            self.stream(name).bit_generator.state = state

    def _fresh(self, name: str) -> np.random.PCG64:
        digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()
        return np.random.PCG64(np.random.SeedSequence(entropy=self.seed, spawn_key=words))
