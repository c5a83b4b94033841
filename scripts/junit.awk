# SPDX-License-Identifier: Apache-2.0
# Turns ctest's JUnit file into one line a test: stage, passed|failed|skipped, name, reason (tab-separated).
# The reason of a skip is the first line of the test's output that says "skip", else its last line.

function attribute(name,    value)
{
    if (!match($0, "[ \t]" name "=\"[^\"]*\""))
        return ""
    value = substr($0, RSTART, RLENGTH)
    sub(/^[^"]*"/, "", value)
    sub(/"$/, "", value)
    return plain(value)
}

function plain(text)
{
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&apos;/, "'", text)
    gsub(/&amp;/, "\\&", text)
    gsub(/\t/, " ", text)
    return text
}

# A test that ctest could not start is "notrun" as well, and that is a failure, not a skip.
function verdict()
{
    if (status == "run")
        return "passed"
    if (status == "disabled" || message ~ /^SKIP_/)
        return "skipped"
    return "failed"
}

/<testcase / {
    name = attribute("name")
    status = attribute("status")
    message = said = last = ""
    output = 0
}
/<skipped message=/ || /<failure message=/ { message = attribute("message") }
/<system-out>/ {
    output = 1
    sub(/.*<system-out>/, "")
}
output {
    line = $0
    sub(/<\/system-out>.*/, "", line)
    if (line ~ /[^ \t]/)
        last = line
    if (said == "" && tolower(line) ~ /skip/)
        said = line
}
/<\/system-out>/ { output = 0 }
/<\/testcase>/ {
    result = verdict()
    reason = result == "passed" ? "" : result == "failed" ? message : said != "" ? said : last
    printf "%s\t%s\t%s\t%s\n", stage, result, name, plain(reason)
}
