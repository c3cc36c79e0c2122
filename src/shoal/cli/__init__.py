"""The command line: parse, call the library, print. Heavy things load inside commands."""
