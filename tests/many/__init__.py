"""Tests of the sweep: IDs, frames, failures, executors, and what is said on the way."""
