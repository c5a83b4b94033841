#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documents as HTML pages (scripts/site.py): every link leads somewhere, every page is in the menu, the search finds what
# is there, nothing comes from another machine; what is broken on purpose is refused.
# usage: test_site.sh MANUALS
set -euo pipefail
for tool in python3 cmark-gfm mandoc; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail()
{
    echo "$*"
    exit 1
}

# refused SENTENCE: the copy of the documents is refused with it, and no page is written.
refused()
{
    if (cd "$folder/tree" && python3 scripts/site.py "$folder/broken") >"$folder/said" 2>&1; then
        fail "taken, but expected: $1"
    fi
    grep -qF "$1" "$folder/said" || fail "expected '$1', found: $(cat "$folder/said")"
    [[ ! -e "$folder/broken" ]] || fail "pages were written in spite of: $1"
}

fresh_copy()
{
    rm -rf "$folder/tree"
    mkdir "$folder/tree"
    cp -r README.md CHANGELOG.md docs scripts include examples tests bindings packaging "$folder/tree"
}

python3 scripts/header_manual.py write include "$folder/man3"
python3 scripts/site.py "$folder/site" "$1" "$folder/man3"
for page in index kernels messages backends/cuda adr/index; do
    [[ -s "$folder/site/$page.html" || -s "$folder/site/docs/$page.html" ]] || fail "there is no page $page"
done
for page in gyre_send.3 gyre-stat.1 gyre.ini.5; do
    [[ -s "$folder/site/manual/$page.html" ]] || fail "there is no manual $page"
done
# the same bytes, whatever the order in which a disk has the files
grep -oE '"manual/[^"#]*\.1\.html"' "$folder/site/index.js" | uniq >"$folder/order"
LC_ALL=C sort -u "$folder/order" | cmp -s - "$folder/order" || fail "the manuals stand in the index in no order"
grep -q 'id="which-device-and-what-a-crash-costs"' "$folder/site/index.html" || fail "a heading has no anchor"
if grep -rnE '(src|<link[^>]* href)="[a-z]+:' "$folder/site" --include='*.html' | head -3 | grep .; then
    fail "the above comes from another machine"
fi
python3 scripts/site.py "$folder/site" >/dev/null || fail "a site is not made anew where one is"
if python3 scripts/site.py "$folder" >"$folder/said" 2>&1; then
    fail "a folder that is no site was replaced"
fi

fresh_copy
(cd "$folder/tree" && python3 scripts/site.py "$folder/copy" >/dev/null) || fail "a copy of the documents is refused"
echo 'Read [more](nowhere.md).' >>"$folder/tree/docs/kernels.md"
refused "docs/kernels.md: 'nowhere.md' leads nowhere"
fresh_copy
echo 'Read [more](messages.md#no-such-section).' >>"$folder/tree/docs/kernels.md"
refused "that page has no section 'no-such-section'"
fresh_copy
echo '# Alone' >"$folder/tree/docs/alone.md"
refused "docs/alone.md: is not in the menu"

if ! command -v node >/dev/null; then
    echo "the search was not tried: no node"
    exit 0
fi
cat >"$folder/search.js" <<'END'
const {find} = require(process.argv[2] + '/search.js');
eval(require('fs').readFileSync(process.argv[2] + '/index.js', 'utf8').replace('var sections', 'globalThis.sections'));
const expect = (words, wanted) => {
    const first = find(sections, words).slice(0, 3).map((section) => section[0]);
    if (wanted ? !first.some((address) => address.startsWith(wanted)) : first.length) {
        console.log(`'${words}': expected ${wanted || 'nothing'} among the first three, found ${first}`);
        process.exitCode = 1;
    }
};
expect('pipelines kernels', 'docs/pipelines.html');
expect('keyed actors', 'docs/keyed.html');
expect('GYRE_ACTOR', 'docs/');
expect('wordthatisnowhere', null);
expect('pipelines wordthatisnowhere', null);
END
node "$folder/search.js" "$folder/site"
