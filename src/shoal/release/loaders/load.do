* Reads a release into Stata: numbers as numbers, dates as dates, an interval in two variables,
* and a third one, 1 or 0, where values are missing.
*
*   do load.do published release      (of two tables: people, then values)
*
* The characteristic _dta[cells] says what cells are: tight, drawn around the rows of a group, or
* regions between cuts, at whose ends nobody needs to lie.
*
* Two tables say which values a group has, not whose they are, so do not merge them: that pairs every
* person with every value of the group. Their groups have different names, group_of_people and
* group_of_values. Estimate with `shoal estimate`, or draw completed tables with `shoal complete`.
*
args directory stem
if "`stem'" == "" local stem release
tempname book
frame create `book'
frame `book': import delimited using "`directory'/codebook.csv", varnames(1) ///
    stringcols(_all) bindquotes(strict) maxquotedrows(unlimited) encoding("UTF-8") clear
import delimited using "`directory'/`stem'.csv", varnames(1) case(preserve) ///
    stringcols(_all) bindquotes(strict) maxquotedrows(unlimited) encoding("UTF-8") clear
frame `book': keep if file == "`stem'"
frame `book': local columns = _N
char _dta[cells] tight
forvalues line = 1/`columns' {
    frame `book': local name = name[`line']
    frame `book': local type = type[`line']
    frame `book': local form = form[`line']
    frame `book': local domain = domain[`line']
    frame `book': local done = done[`line']
    frame `book': local role = role[`line']
    if "`role'" == "quasi" & strpos(`"`done'"', "region") char _dta[cells] regions
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
            generate long shoal_day = daily(substr(`part', 1, 10), "YMD")
            drop `part'
            rename shoal_day `part'
            format `part' %td
        }
    }
}
if inlist("`stem'", "people", "values") rename group group_of_`stem'
