"""Samples over time: the recorder, its folder of Parquet files, and their evaluation."""
