#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of gyre web in headless Chromium, of a pipeline that works: curves move, links have times, a killed process shows within two seconds,
# 400 pixels are enough, the keyboard too, and no request leaves the machine. GYRE_TEST_SHOTS=FOLDER keeps pictures there.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
chromium="$(command -v chromium || command -v chromium-browser || command -v google-chrome)"
if [[ -z "$chromium" ]]; then
    echo "skipped: there is no browser: neither chromium, chromium-browser nor google-chrome is installed"
    exit 77
fi
export XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/temporary" GYRE_OBSERVE__EVERY_MS=200 GYRE_KERNEL__DEFAULT__TIMING=true
mkdir -p "$XDG_CACHE_HOME" "$TMPDIR"
server='' web='' client=''
trap 'kill -KILL $server $web $client 2>/dev/null; rm -rf "$folder"' EXIT
: >"$folder/ready"
"$GYRE" serve --config examples/pipeline/gyre.ini --socket "$folder/socket" orders >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
while :; do
    echo '{"item":1,"count":2}'
    echo '{"item":2,"count":150}'
    sleep 0.002
done 2>/dev/null | "$GYRE" call --attach orders --socket "$folder/socket" >/dev/null 2>&1 &
client=$!
: >"$folder/showing"
"$GYRE" web --listen 127.0.0.1:0 >"$folder/showing" 2>"$folder/said" &
web=$!
await_begun "$folder/showing" "$web"
page="$(grep -o 'http://[^ ]*' "$folder/showing")"
called="the page in $chromium"
checks=$((checks + 1))
python3 "$(dirname "${BASH_SOURCE[0]}")/browser.py" "$chromium" "$page" "$server" "$patience" ${GYRE_TEST_SHOTS:+"$GYRE_TEST_SHOTS"} \
    >"$folder/out" 2>"$folder/err" || { out="$(<"$folder/out")" err="$(tail -5 "$folder/err")"; fail "see above"; }
cat "$folder/out"
finish
