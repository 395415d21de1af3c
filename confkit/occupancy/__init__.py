"""Samples over time: the recorder, its folder of Parquet files, and what the samples come to."""
