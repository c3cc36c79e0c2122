# Reads a release into R: numbers as numbers, dates as dates, sets of labels as list columns, an
# interval in two columns, and in a third one, 1 or 0, where values are missing. Numbers with a decimal
# comma and dates such as 31.12.1948, which a release keeps as they came in, are numbers and dates
# too. Base R.
#
#   source("load.R")
#   release <- read_release("published")     # of two tables, release$people and release$values
#
# attr(release, "cells") says what cells are: "tight", drawn around the rows of a group, or
# "regions" between cuts, whose ends may be no person's value. The outermost ends
# are the smallest and the largest published value where the owner stated no bounds.
#
# Two tables say which values a group has, not whose they are. So formulas (as of lm), merge, cbind,
# data.frame and arithmetic stop on columns of both. Functions that take bare numbers, such as cor,
# cannot. Draw completed tables by `shoal complete`, and pool.R hands these to mice or mitools.
#
read_release <- function(directory) {
  book <- read.csv(file.path(directory, "codebook.csv"), colClasses = "character",
                   check.names = FALSE, encoding = "UTF-8")
  stated <- readLines(file.path(directory, "manifest.json"), encoding = "UTF-8", warn = FALSE)
  sign <- substr(grep("^  \"decimal\": \"[.,]\"", stated, value = TRUE), 15, 15)
  typed <- function(cells, type) {
    if (type %in% c("integer", "number")) suppressWarnings(as.numeric(cells))
    else if (type == "date") as.Date(cells, format = "%Y-%m-%d")
    else cells
  }
  plain <- function(cells, line) {  # of a column that is published as it came in
    if (!(line$type %in% c("integer", "number", "date") && line$role %in% c("sensitive", "other")))
      return(cells)
    cells <- sub("^'", "", cells)  # of escaped formulas
    if (line$type == "date") return(shoal_iso(cells, line$done))
    if (length(sign) == 0) return(cells)
    between <- paste0("[ '\u2019\u00a0\u202f", if (sign == ",") "." else ",", "]")
    whole <- paste0("-?([0-9]+|[0-9]{1,3}(", between, "[0-9]{3})+)")
    ours <- grepl(paste0("^", whole, "([", sign, "][0-9]+)?([eE][+-]?[0-9]+)?$"), cells)
    cells[ours] <- sub(sign, ".", gsub(between, "", cells[ours]), fixed = TRUE)
    cells
  }
  labels <- function(cells) {  # a JSON array of labels, or a bare one
    inside <- "\"(([^\"\\\\]|\\\\.)*)\""
    lapply(cells, function(cell) {
      if (is.na(cell) || !grepl("^\\[\"", cell)) return(cell)
      found <- regmatches(cell, gregexpr(inside, cell))[[1]]
      shoal_unescaped(substr(found, 2, nchar(found) - 1))
    })
  }
  one <- function(stem) {
    file <- Sys.glob(file.path(directory, paste0(stem, ".?sv*")))
    if (length(file) != 1) stop("The release has no ", stem, ".csv or ", stem, ".tsv.")
    table <- read.csv(file, sep = if (grepl("\\.tsv", file)) "\t" else ",", na.strings = "",
                      colClasses = "character", check.names = FALSE, encoding = "UTF-8")
    columns <- book[book$file == stem, ]
    found <- list()
    for (line in seq_len(nrow(columns))) {
      name <- columns$name[line]
      type <- columns$type[line]
      cells <- plain(table[[name]], columns[line, ])
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
    for (stem in stems) tables[[stem]] <- shoal_marked(tables[[stem]], stem)
    class(tables) <- "shoal_two_tables"
  }
  tables
}

# Texts in which JSON escapes characters, as \n, \" or \u00e4, and some as pairs of \u.
shoal_unescaped <- function(texts) {
  if (!any(grepl("\\", texts, fixed = TRUE))) return(texts)
  known <- c(b = "\b", f = "\f", n = "\n", r = "\r", t = "\t")
  pair <- "u[Dd][89ABab][0-9A-Fa-f]{2}\\\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}"
  found <- gregexpr(paste0("\\\\(", pair, "|u[0-9A-Fa-f]{4}|.)"), texts)
  meant <- function(mark) {
    kind <- substr(mark, 2, 2)
    if (nchar(mark) == 2) return(if (kind %in% names(known)) known[[kind]] else kind)
    code <- strtoi(strsplit(mark, "\\u", fixed = TRUE)[[1]][-1], 16L)
    if (length(code) == 2) code <- (code[1] - 0xD800) * 0x400 + code[2] - 0xDC00 + 0x10000
    intToUtf8(code)
  }
  regmatches(texts, found) <- lapply(regmatches(texts, found), vapply, meant, "", USE.NAMES = FALSE)
  texts
}

# Dates by ISO 8601, or written as the codebook says, for example as dd.mm.yyyy.
shoal_iso <- function(cells, done) {
  said <- regmatches(done, regexpr("Written as .+, read as dates", done))
  if (length(said) == 0) return(cells)
  way <- sub(", read as dates.*$", "", sub("^Written as ", "", said))
  parts <- regmatches(way, gregexpr("(y+|month|mon|m+|d+)[ /.,-]*", way))[[1]]
  digits <- if (grepl("yyyy", way)) "([0-9]{4})" else "([0-9]{2})"
  kinds <- c(y = digits, m = "([0-9]{1,2}|[A-Za-z]{3,9})", d = "([0-9]{1,2})")
  order <- substr(parts, 1, 1)
  date <- paste0(kinds[order], ifelse(grepl("[ /.,-]$", parts), "[^0-9A-Za-z]+", ""), collapse = "")
  pattern <- paste0("^", date, "([ T][0-9:.]+)?$")
  ours <- grepl(pattern, cells)
  part <- function(kind) sub(pattern, paste0("\\", match(kind, order)), cells[ours])
  month <- match(tolower(substr(part("m"), 1, 3)), tolower(month.abb))
  month[is.na(month)] <- as.integer(part("m")[is.na(month)])
  year <- as.integer(part("y"))
  if (!grepl("yyyy", way)) year <- year + ifelse(year < 30, 2000, 1900)
  cells[ours] <- sprintf("%04d-%02d-%02d", as.integer(year), month, as.integer(part("d")))
  cells
}

shoal_unpaired <- function(...) {
  stop("These two tables say which values a group has, not whose they are, so they cannot be ",
       "joined. Estimate with `shoal estimate`, or draw completed tables with `shoal complete`.",
       call. = FALSE)
}
as.data.frame.shoal_two_tables <- shoal_unpaired
merge.shoal_two_tables <- shoal_unpaired

# Columns know which of the two tables they are of; `group` and its like join other tables.
shoal_marked <- function(table, stem, names = colnames(table)) {
  for (name in setdiff(names, c("group", "node", "person", "real")))
    if (!is.list(table[[name]]))  # a date is a date first, so that dates can be told apart
      class(table[[name]]) <- c(oldClass(table[[name]]), paste0("shoal_", stem), "shoal_column")
  class(table) <- c("shoal_part", setdiff(class(table), "shoal_part"))
  attr(table, "stem") <- stem
  table
}
shoal_bare <- function(x) {
  if (inherits(x, "shoal_part")) {
    class(x) <- setdiff(class(x), "shoal_part")
    x[] <- lapply(x, shoal_bare)
  } else class(x) <- setdiff(oldClass(x), c("shoal_people", "shoal_values", "shoal_column"))
  x
}
shoal_of <- function(x) {
  if (inherits(x, "shoal_two_tables")) return(c("shoal_people", "shoal_values"))
  if (is.data.frame(x)) return(unique(unlist(lapply(x, shoal_of))))
  intersect(c("shoal_people", "shoal_values"), oldClass(x))
}
shoal_same <- function(...) if (length(unique(unlist(lapply(list(...), shoal_of)))) > 1) shoal_unpaired()

# Of which tables the columns are that an expression names, whatever is done with them.
shoal_named <- function(said, data, env) {
  if (is.call(said) && !(deparse(said[[1]])[1] %in% c("$", "[[", "[")))
    return(unlist(lapply(as.list(said)[-1], shoal_named, data, env)))
  shoal_of(tryCatch(eval(said, data, env), error = function(problem) NULL))
}

# Every formula's columns pass here, on the way from model.frame to lm, glm, t.test and the like.
makepredictcall.shoal_column <- function(var, call) {
  frame <- parent.frame()
  named <- shoal_named(as.call(as.list(frame$vars)), frame$data, frame$env)
  if (length(unique(c(named, unlist(lapply(frame$variables, shoal_of))))) > 1) shoal_unpaired()
  call
}
`[.shoal_column` <- function(x, ...) {
  found <- NextMethod()
  if (is.null(dim(found))) class(found) <- oldClass(x)
  found
}
Ops.shoal_column <- function(e1, e2) {
  both <- list(e1, if (!missing(e2)) e2)
  do.call(shoal_same, both)
  found <- do.call(.Generic, lapply(both[c(TRUE, !missing(e2))], shoal_bare))
  class(found) <- unique(c(unlist(lapply(both, shoal_of)), "shoal_column", oldClass(found)))
  found
}
as.double.shoal_column <- function(x, ...) {  # still of its table, a date no longer a date
  structure(as.double(shoal_bare(x)), class = c(shoal_of(x), "shoal_column"))
}
as.data.frame.shoal_column <- function(x, ...) {
  others <- parent.frame()$x  # of data.frame, which makes one of each
  if (is.list(others)) do.call(shoal_same, unname(others))
  as.data.frame.vector(x, ...)
}
as.data.frame.shoal_part <- function(x, ...) {
  others <- parent.frame()$x
  if (is.list(others) && !is.data.frame(others)) do.call(shoal_same, unname(others))
  NextMethod()
}
cbind.shoal_column <- cbind.shoal_part <- function(...) {
  shoal_same(...)
  parts <- lapply(list(...), function(x) if (length(shoal_of(x))) shoal_bare(x) else x)
  found <- do.call(cbind, parts)
  stem <- unlist(lapply(list(...), attr, "stem"))
  if (is.null(stem)) found else shoal_marked(found, stem[1])
}
format.shoal_column <- function(x, ...) format(shoal_bare(x), ...)
print.shoal_column <- function(x, ...) print(shoal_bare(x), ...)

# Joining one of the two tables with another table is fine, with the other of the two it is not.
shoal_joined <- function(kind) function(x, y, ...) {
  shoal_same(x, y)
  found <- kind(shoal_bare(x), if (inherits(y, "shoal_part")) shoal_bare(y) else y, ...)
  shoal_marked(found, attr(x, "stem"), intersect(colnames(found), colnames(x)))
}
merge.shoal_part <- shoal_joined(function(x, y, ...) merge(x, y, ...))
inner_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::inner_join(x, y, ...))
left_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::left_join(x, y, ...))
right_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::right_join(x, y, ...))
full_join.shoal_part <- shoal_joined(function(x, y, ...) dplyr::full_join(x, y, ...))
