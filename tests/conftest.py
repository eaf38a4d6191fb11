"""What holds for every test: a shared machine has no deadlines."""

from hypothesis import settings

settings.register_profile("typegate", deadline=None)
settings.load_profile("typegate")
