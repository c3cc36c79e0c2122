"""Risk, measured from what is published and from nothing else."""
