"""Studies: published tables of the field, made anew and set beside the printed numbers."""

ARCHIVE = "archive"
"""What the archive of a study is called in its folder."""
