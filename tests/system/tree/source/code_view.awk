# SPDX-License-Identifier: Apache-2.0
# Prints C files as FILE:LINE:CODE with comments removed and the insides of strings blanked, for checks that mean
# code. An #include keeps its path. A // comment becomes the word SLASH_COMMENT.

FNR == 1 { in_comment = 0 }
# most lines are all comment or all code: no look at each character
in_comment && !index($0, "*/") { next }
!in_comment && !/[\/"']/ {
    if (/[^ \t]/)
        print FILENAME ":" FNR ":" $0
    next
}
{
    code = ""
    quote = ""
    is_include = $0 ~ /^[ \t]*#[ \t]*include/
    for (i = 1; i <= length($0); i++) {
        two = substr($0, i, 2)
        one = substr($0, i, 1)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (one == "\\" && !is_include) i++
            else if (one == quote) { quote = ""; code = code one }
            else if (is_include) code = code one
        } else if (two == "/*") { in_comment = 1; i++ }
        else if (two == "//") { code = code "SLASH_COMMENT"; break }
        else {
            if (one == "\"" || one == "'") quote = one
            code = code one
        }
    }
    if (code ~ /[^ \t]/)
        print FILENAME ":" FNR ":" code
}
