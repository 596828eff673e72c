"""The migrations of the database, run when a server or worker starts."""
