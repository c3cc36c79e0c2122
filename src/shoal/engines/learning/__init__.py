"""What a model still learns from a release: features, models, and the trial that compares them."""
