#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example of docs/kernels.md, docs/messages.md, docs/pipelines.md and docs/keyed.md stands, word for word, in the file that the comment
# before it names, and these files are compiled and run by the tests.
# usage: check_docs.sh PROJECT_FOLDER
set -euo pipefail
cd "$1"
awk '
function contents(path,    text, line) {
    text = ""
    while ((getline line < path) > 0)
        text = text line "\n"
    close(path)
    return text
}
/^<!-- from .* -->$/ { file = $3; next }
/^```c$/ {
    if (file == "") { printf "%s:%d: an example of no file\n", FILENAME, NR; bad++ }
    inside = 1; block = ""; start = NR
    next
}
/^```$/ && inside {
    inside = 0; examples++
    if (file != "" && index(contents(file), block) == 0) {
        printf "%s:%d: this example is not in %s\n", FILENAME, start, file; bad++
    }
    file = ""
    next
}
inside { block = block $0 "\n" }
END {
    if (examples < 14) { printf "only %d examples\n", examples; bad++ }
    printf "%d examples\n", examples
    exit bad > 0
}' docs/kernels.md docs/messages.md docs/pipelines.md docs/keyed.md
