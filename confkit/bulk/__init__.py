"""Many devices at once: a table in, a row for each device out."""
