"""Charts, drawn without a network."""
