# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --changed: which tests concern what the working tree changed. Sourced; runs nothing.

# changed_since: what the working tree is compared with: the last commit, or where that is clean the commit before it.
changed_since()
{
    if [[ -n "$(git status --porcelain)" ]]; then
        echo "the last commit"
    else
        echo "the commit before the last"
    fi
}

# changed_files: the files that differ, those that git does not know yet among them.
changed_files()
{
    if [[ -n "$(git status --porcelain)" ]]; then
        git diff --name-only HEAD
        git ls-files --others --exclude-standard
    else
        git diff --name-only HEAD~1 HEAD
    fi
}

# label_of_file FILE: the label of its tests (tests/labels.txt), or `all` where any test may depend on it.
label_of_file()
{
    local folders
    IFS=/ read -ra folders <<<"$1"
    case "$1" in
    *.md | docs/*) echo docs ;;
    backends/device/* | tests/*.* | */CMakeLists.txt) echo all ;;
    core/*/* | backends/*/* | cli/check/* | tests/conformance/*/* | tests/emulator/* | tests/fuzz/* | tests/kernels/* | tests/plugins/*) echo "${folders[1]}" ;;
    tests/conformance/*) echo conformance ;;
    tests/unit/*/* | tests/system/*/*) echo "${folders[${#folders[@]} - 2]}" ;;
    tests/*/*) echo "${folders[1]}" ;;
    cli/* | examples/*) echo "${folders[0]}" ;;
    bindings/*/*) echo "${folders[1]}" ;;
    dev | scripts/* | .ci/*) echo dev ;;
    *) echo all ;;
    esac
}

# changed_labels ARRAY: the labels of all changed files, `source` with them; only `all` where one file concerns everything.
changed_labels()
{
    local -n found="$1"
    local file label
    found=()
    while IFS= read -r file; do
        label="$(label_of_file "$file")"
        if [[ "$label" == all ]]; then
            found=(all)
            return
        fi
        [[ " ${found[*]} " == *" $label "* ]] || found+=("$label")
    done < <(changed_files)
    ((${#found[@]} == 0)) || found+=(source)
}
