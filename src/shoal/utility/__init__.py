"""What a release is still good for: losses, count queries, rivals to compare with."""
