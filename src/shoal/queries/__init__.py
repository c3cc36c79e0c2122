"""Count queries: asked of the original exactly, of what was published by uniform spread."""
