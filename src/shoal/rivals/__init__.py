"""Other ways to publish a table, so that people can compare: perturbation and anatomy."""
