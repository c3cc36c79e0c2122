"""How groups are found. Methods see codes and principles, never cells or files."""
