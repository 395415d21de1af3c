"""Other people's texts as attacks: markup, formulas, control characters, paths, parameters."""
