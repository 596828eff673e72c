"""Where tasks come from: DELVE's files, tables, PROBEN1's files, the catalogue."""
