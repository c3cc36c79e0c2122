"""What is published: recoded cells, manifest, files, and the private linkage beside them."""
