"""What holds for every test: no deadlines on a shared machine; in CI the same code has the same outcome."""

import os

from hypothesis import settings

settings.register_profile("typegate", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("typegate")
