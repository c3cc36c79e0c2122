"""Programs that read a release into R, pandas and Stata, by its codebook; they need no Shoal."""
