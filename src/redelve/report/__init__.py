"""Results as text, tables, figures and pages."""
