"""Thousands of rooms at once: which they are, what they are, and who is in them."""
