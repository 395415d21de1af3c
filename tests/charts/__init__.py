"""The charts and their plain-text twins."""
