"""The local page: it asks, makes a run of the answers, and shows what came of it."""
