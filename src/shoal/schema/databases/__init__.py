"""Tables in databases: SQLite, DuckDB and PostgreSQL, through their ordinary drivers."""
