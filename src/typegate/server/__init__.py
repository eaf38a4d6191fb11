"""What a server offers, and what happens when it is asked for it."""
