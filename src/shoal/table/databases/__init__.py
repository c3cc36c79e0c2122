"""Tables in databases, one module a kind."""
