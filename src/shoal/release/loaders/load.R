# Reads a release into R: numbers as numbers, dates as dates, sets of labels as list columns, an
# interval in two columns, and in a third one, 1 or 0, where values are missing. Base R.
#
#   source("load.R")
#   release <- read_release("published")     # of two tables, release$people and release$values
#
# attr(release, "cells") says what cells are: "tight", drawn around the rows of a group, or
# "regions" between cuts, at whose ends nobody needs to lie.
#
# Two tables say which values a group has, not whose they are. lm, merge and as.data.frame stop on
# them: draw completed tables by `shoal complete`, and pool.R hands these to mice or mitools.
#
read_release <- function(directory) {
  book <- read.csv(file.path(directory, "codebook.csv"), colClasses = "character",
                   check.names = FALSE, fileEncoding = "UTF-8")
  typed <- function(cells, type) {
    if (type %in% c("integer", "number")) suppressWarnings(as.numeric(cells))
    else if (type == "date") as.Date(substr(cells, 1, 10))
    else cells
  }
  labels <- function(cells) {  # a JSON array of labels, or a bare one
    inside <- "\"(([^\"\\\\]|\\\\.)*)\""
    lapply(cells, function(cell) {
      if (is.na(cell) || !grepl("^\\[\"", cell)) return(cell)
      found <- regmatches(cell, gregexpr(inside, cell))[[1]]
      gsub("\\\\(.)", "\\1", substr(found, 2, nchar(found) - 1))
    })
  }
  one <- function(stem) {
    file <- Sys.glob(file.path(directory, paste0(stem, ".?sv*")))
    if (length(file) != 1) stop("The release has no ", stem, ".csv or ", stem, ".tsv.")
    table <- read.csv(file, sep = if (grepl("\\.tsv", file)) "\t" else ",", na.strings = "",
                      colClasses = "character", check.names = FALSE, fileEncoding = "UTF-8")
    columns <- book[book$file == stem, ]
    found <- list()
    for (line in seq_len(nrow(columns))) {
      name <- columns$name[line]
      type <- columns$type[line]
      cells <- table[[name]]
      if (columns$form[line] == "interval") {
        some <- grepl(", null\\]$", cells)
        ends <- gsub("^\\[|(, null)?\\]$|\"", "", cells)
        found[[paste0(name, "_low")]] <- typed(sub(", .*$", "", ends), type)
        found[[paste0(name, "_high")]] <- typed(sub("^.*, ", "", ends), type)
        if (grepl(", null\\]$", columns$domain[line]))
          found[[paste0(name, "_missing")]] <- as.integer(some | is.na(cells))
      } else if (columns$form[line] == "set") {
        found[[name]] <- I(labels(cells))
      } else {
        found[[name]] <- typed(cells, type)
      }
    }
    found <- as.data.frame(found, check.names = FALSE, stringsAsFactors = FALSE, optional = TRUE)
    attr(found, "cells") <- if (any(grepl("region", columns$done[columns$role == "quasi"]))) "regions" else "tight"
    found
  }
  stems <- unique(book$file)
  tables <- lapply(stats::setNames(stems, stems), one)
  if (length(tables) == 1) return(tables[[1]])
  if (setequal(stems, c("people", "values"))) {
    tables <- lapply(tables, function(table) {
      class(table) <- c("shoal_part", class(table))
      table
    })
    class(tables) <- "shoal_two_tables"
  }
  tables
}

shoal_unpaired <- function(...) {
  stop("These two tables say which values a group has, not whose they are, so they cannot be ",
       "joined. Estimate with `shoal estimate`, or draw completed tables with `shoal complete`.",
       call. = FALSE)
}
as.data.frame.shoal_two_tables <- shoal_unpaired
merge.shoal_two_tables <- shoal_unpaired

# Joining one of the two tables with another table is fine, with the other of the two it is not.
shoal_joined <- function(kind) function(x, y, ...) {
  if (inherits(y, c("shoal_part", "shoal_two_tables"))) shoal_unpaired()
  class(x) <- setdiff(class(x), "shoal_part")
  kind(x, y, ...)
}
merge.shoal_part <- shoal_joined(function(x, y, ...) merge(x, y, ...))
inner_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::inner_join(x, y, ...))
left_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::left_join(x, y, ...))
right_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::right_join(x, y, ...))
full_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::full_join(x, y, ...))
