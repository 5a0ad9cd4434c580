"""Property tests without a stopwatch (the machine may be busy) and with the same examples every time."""

from hypothesis import settings

settings.register_profile("cellwright", deadline=None, derandomize=True, max_examples=60, database=None)
settings.load_profile("cellwright")
