"""What an analyst may conclude from a release: completed tables, estimates, and their errors."""
