"""Settings of all tests."""

import os

from hypothesis import settings

# No timed tests, and the same examples on every run: a red run can be repeated.
settings.register_profile("aiopt", deadline=None, derandomize=True)
settings.load_profile("aiopt")

# What a test compiles is compiled by it. Tests of the cache turn it on, in a folder of their own.
os.environ["AIOPT_CACHE"] = "0"
