# Reads completed tables into R and hands them to mice or mitools, which pool analyses of them.
#
#   source("pool.R")
#   tables <- read_completed(".")
#   summary(mice::pool(with(as_mids(tables), lm(log(income) ~ age))), conf.int = TRUE)
#   summary(mitools::MIcombine(with(as_imputations(tables), lm(log(income) ~ age))))
#
# The tables are draws, not records: analyse all of them, never one alone.

read_completed <- function(directory) {
  read.csv(file.path(directory, "completed.csv"), check.names = FALSE, na.strings = "",
           encoding = "UTF-8")
}

# For mice: an object of class mids, with the table without drawn values as its number 0.
as_mids <- function(tables) {
  mice::as.mids(tables[setdiff(names(tables), "drawn")])
}

# For mitools and survey: a list of the completed tables.
as_imputations <- function(tables) {
  drawn <- tables[tables$.imp > 0, ]
  mitools::imputationList(unname(split(drawn, drawn$.imp)))
}
