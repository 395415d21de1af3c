"""The campaign: each promise under attack, in seeded pieces; see __main__."""
