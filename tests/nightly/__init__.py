"""Long attacks on what confkit promises: `python -m tests.nightly`, in seeded pieces."""
