"""Information lost by recoding, one formula each."""
