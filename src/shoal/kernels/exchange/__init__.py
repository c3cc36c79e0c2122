"""The exchange engine's kernels: groups side by side, what they lose, and swaps between them."""
