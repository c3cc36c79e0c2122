"""Work on Apache Spark; what is outside `engine` is imported where a run is on Spark alone."""
