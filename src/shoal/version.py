"""The version, apart so that every part can read it without loading the others."""

__version__ = "0.2.0"
