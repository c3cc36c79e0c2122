"""The whole system, through its command line and its public names."""
