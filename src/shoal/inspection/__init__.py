"""What a table is before anything is asked of it: columns, people, what looks wrong."""
