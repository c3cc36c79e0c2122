# Reads a release into R: numbers as numbers, dates as dates, an interval in two columns. Base R.
#
#   source("load.R")
#   release <- read_release("published")     # of two tables, release$people and release$values
#
read_release <- function(directory) {
  book <- read.csv(file.path(directory, "codebook.csv"), colClasses = "character",
                   check.names = FALSE, fileEncoding = "UTF-8")
  typed <- function(cells, type) {
    if (type %in% c("integer", "number")) suppressWarnings(as.numeric(cells))
    else if (type == "date") as.Date(substr(cells, 1, 10))
    else cells
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
        ends <- gsub("^\\[|\\]$|\"", "", cells)
        found[[paste0(name, "_low")]] <- typed(sub(", .*$", "", ends), type)
        found[[paste0(name, "_high")]] <- typed(sub("^.*, ", "", ends), type)
      } else {
        found[[name]] <- typed(cells, type)
      }
    }
    as.data.frame(found, check.names = FALSE, stringsAsFactors = FALSE)
  }
  stems <- unique(book$file)
  tables <- lapply(stats::setNames(stems, stems), one)
  if (length(tables) == 1) tables[[1]] else tables
}
