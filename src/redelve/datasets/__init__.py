"""The catalogue: datasets that are generated or packaged."""
