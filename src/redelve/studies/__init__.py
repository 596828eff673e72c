"""Studies: published tables of the field, made anew and set beside the printed numbers."""
