"""The protocol core: bytes and messages, without waiting and without I/O."""
