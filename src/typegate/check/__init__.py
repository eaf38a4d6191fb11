"""What reads a server as a reviewer would: rules by family, over what is published and what is written."""
