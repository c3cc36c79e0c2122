"""Where a run's work is done: this machine, or others; same verbs, same guarantees."""
