"""Marked secrets are driven through everything that is public, and looked for in all that shows."""
