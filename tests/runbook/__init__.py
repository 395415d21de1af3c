"""Tests of the runbooks: each is played in this process, cell by cell."""
