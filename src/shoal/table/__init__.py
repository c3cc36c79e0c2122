"""Tables: what columns are, and how cells become codes."""
