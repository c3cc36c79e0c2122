"""Who is proximate to whom: the part that all pairwise principles share."""
