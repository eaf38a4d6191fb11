"""Where bytes come from and go to, and everything that waits."""
