"""Recovery, measured: whether a caller that reads a refusal gets its call right the second time."""
