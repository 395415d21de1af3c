"""Figures, measured side by side in one run: `python -m tests.bench [NAME ...]`."""
