"""What stands around every call."""
