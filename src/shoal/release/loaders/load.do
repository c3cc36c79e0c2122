* Reads a release into Stata: numbers as numbers, dates as dates, an interval in two variables,
* and a third one, 1 or 0, where values are missing. Numbers with a decimal comma and dates such as
* 31.12.1948, which a release keeps as they came in, are numbers and dates too. Sets of labels
* stay texts as they are published: JSON arrays such as ["north", "south"].
*
*   do load.do published release      (of two tables: people, then values)
*
* The characteristic _dta[cells] says what cells are: tight, drawn around the rows of a group, or
* regions between cuts, whose ends may be no person's value. The outermost ends
* are the smallest and the largest published value where the owner stated no bounds.
*
* Two tables say which values a group has, not whose they are, so do not merge them: that pairs every
* person with every value of the group. Their groups have different names, group_of_people and
* group_of_values. The variable shoal_part is text in one and a number in the other, so merge stops,
* by row number too. Estimate with `shoal estimate`, or draw completed tables with `shoal complete`.
*
args directory stem
if "`stem'" == "" local stem release
tempname book
frame create `book'
frame `book': import delimited using "`directory'/codebook.csv", varnames(1) ///
    stringcols(_all) bindquotes(strict) maxquotedrows(unlimited) encoding("UTF-8") clear
local ending csv
local separator ","
capture confirm file "`directory'/`stem'.csv"
if _rc {
    local ending tsv
    local separator "\t"
}
import delimited using "`directory'/`stem'.`ending'", varnames(1) case(preserve) ///
    delimiters("`separator'") stringcols(_all) bindquotes(strict) maxquotedrows(unlimited) encoding("UTF-8") clear
frame `book': keep if file == "`stem'"
frame `book': local columns = _N
char _dta[cells] tight
local sign ""
foreach one in "," "." {
    if strpos(fileread("`directory'/manifest.json"), char(10) + "  " + char(34) + "decimal" + ///
        char(34) + ": " + char(34) + "`one'" + char(34)) local sign "`one'"
}
local between "[ '\u2019\u00a0\u202f.]"
if "`sign'" == "." local between "[ '\u2019\u00a0\u202f,]"
local written "^-?([0-9]+|[0-9]{1,3}(`between'[0-9]{3})+)([`sign'][0-9]+)?([eE][+-]?[0-9]+)?$"
forvalues line = 1/`columns' {
    frame `book': local name = name[`line']
    frame `book': local type = type[`line']
    frame `book': local form = form[`line']
    frame `book': local domain = domain[`line']
    frame `book': local done = done[`line']
    frame `book': local role = role[`line']
    if "`role'" == "quasi" & strpos(`"`done'"', "region") char _dta[cells] regions
    local given = inlist("`role'", "sensitive", "other") & inlist("`type'", "integer", "number", "date")
    if `given' replace `name' = substr(`name', 2, .) if substr(`name', 1, 1) == char(39)
    if `given' & "`type'" != "date" & "`sign'" != "" replace `name' = ///
        subinstr(ustrregexra(`name', "`between'", ""), "`sign'", ".", 1) if ustrregexm(`name', "`written'")
    local order YMD
    if "`type'" == "date" & strpos(`"`done'"', "Written as ") {
        local order = substr(`"`done'"', strpos(`"`done'"', "Written as ") + 11, .)
        local order = substr(`"`order'"', 1, strpos(`"`order'"', ", read as dates") - 1)
        local order = ustrregexra(ustrregexra("`order'", "month|mon|m+", "M"), "[ /.,-]", "")
        local order = ustrregexra(ustrregexra("`order'", "y+", "Y"), "d+", "D")
    }
    local parts `name'
    if "`form'" == "interval" {
        if strpos(`"`domain'"', ", null]") generate byte `name'_missing = `name' == "" | strpos(`name', ", null]") > 0
        replace `name' = subinstr(`name', ", null]", "]", .)
        replace `name' = subinstr(subinstr(subinstr(`name', "[", "", .), "]", "", .), char(34), "", .)
        generate `name'_low = cond(strpos(`name', ", "), substr(`name', 1, strpos(`name', ", ") - 1), `name')
        generate `name'_high = cond(strpos(`name', ", "), substr(`name', strpos(`name', ", ") + 2, .), `name')
        drop `name'
        local parts `name'_low `name'_high
    }
    foreach part of local parts {
        if inlist("`type'", "integer", "number") destring `part', replace
        if "`type'" == "date" {
            generate long shoal_day = daily(ustrregexra(`part', "[ T][0-9]+:.*$", ""), "`order'", 2029)
            replace shoal_day = daily(substr(`part', 1, 10), "YMD") if shoal_day >= .
            drop `part'
            rename shoal_day `part'
            format `part' %td
        }
    }
}
if inlist("`stem'", "people", "values") rename group group_of_`stem'
if "`stem'" == "people" generate str6 shoal_part = "people"
if "`stem'" == "values" generate byte shoal_part = 1
