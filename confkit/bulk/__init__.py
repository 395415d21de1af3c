"""Many devices at once: a table in, one row per device out."""
