"""Settings of all tests."""

from hypothesis import settings

# No timed tests, and the same examples on every run: a red run can be repeated.
settings.register_profile("aiopt", deadline=None, derandomize=True)
settings.load_profile("aiopt")
