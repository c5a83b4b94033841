#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/grafana/gyre.json: each of its queries names metrics and labels that `gyre web` has. Where there is a Prometheus, it scrapes
# and answers every query; it is large, so nothing installs it for this test.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
export XDG_RUNTIME_DIR="$folder/session" XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/none" TMPDIR="$folder/temporary"
mkdir -p "$XDG_RUNTIME_DIR" "$TMPDIR"
unset GYRE_BACKEND
server='' web='' scraper=''
# shellcheck disable=SC2086
trap 'kill -KILL $server $web $scraper 2>/dev/null; rm -rf "$folder"' EXIT

"$GYRE" serve --config examples/pipeline/gyre.ini --set observe.every_ms=50 --set kernel.default.timing=true \
    >"$folder/ready" 2>"$folder/served" &
server=$!
await_begun "$folder/ready" "$server"
run call --attach orders '{"item":2,"count":3}'
exits 0
"$GYRE" web --listen 0 >"$folder/showing" 2>"$folder/said" &
web=$!
await_begun "$folder/showing" "$web"
page="$(grep -o 'http://[^ ]*' "$folder/showing")"

cat >"$folder/queries.py" <<'PYTHON'
import json, re, sys, time, urllib.parse, urllib.request

dashboard = json.load(open('docs/grafana/gyre.json'))
targets = [(panel['title'], target['expr'], target['legendFormat']) for panel in dashboard['panels'] for target in panel['targets']]
assert len(targets) > 20 and len({panel['id'] for panel in dashboard['panels']}) == len(dashboard['panels'])


def fetch(url):
    return urllib.request.urlopen(url, timeout=60).read().decode()
PYTHON

checks=$((checks + 1)) called="the queries of docs/grafana/gyre.json"
cat "$folder/queries.py" - >"$folder/judge.py" <<'PYTHON'
# what /metrics has: each metric with the values of its labels, once the links, and for a second the blocks, were looked at
metrics, until = {}, time.monotonic() + 60 * float(sys.argv[2])
while not {'gyre_link_sent_total', 'gyre_block_busy_ratio'} <= metrics.keys() and time.monotonic() < until:
    metrics = {}
    for name, labels in re.findall(r'^(\w+)\{(.*)\} \S+$', fetch(sys.argv[1] + 'metrics'), re.M):
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            metrics.setdefault(name, {}).setdefault(label, set()).add(value)
    time.sleep(0.05)
VARIABLES = r'\$program|\$kernel'
for title, expression, legend in targets:
    used = re.findall(r'\b(gyre_\w+)\{([^}]*)\}', expression)
    assert used and len(used) == len(re.findall(r'\bgyre_', expression)), (title, 'a metric without a selector')
    grouped = [label.strip() for group in re.findall(r'by \(([^)]*)\)', expression) for label in group.split(',')]
    for metric, selector in used:
        assert metric in metrics, (title, metric, 'is not in /metrics')
        for label, matches, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', selector):
            assert label in metrics[metric], (title, metric, label)
            values = set(value.split('|')) if not re.fullmatch(VARIABLES, value) else set()
            assert values <= metrics[metric][label], (title, metric, label, value, metrics[metric][label])
        assert set(grouped) <= set(metrics[metric]), (title, metric, grouped, set(metrics[metric]))
    assert set(re.findall(r'\{\{(\w+)\}\}', legend)) <= set(grouped), (title, legend)
for variable in dashboard['templating']['list'][1:]:
    metric, label = re.fullmatch(r'label_values\((\w+)(?:\{.*\})?, (\w+)\)', variable['query']['query']).groups()
    assert label in metrics[metric], variable
PYTHON
python3 "$folder/judge.py" "$page" "$patience" >"$folder/judged" 2>&1 || fail "$(<"$folder/judged")"

if ! command -v prometheus >/dev/null; then
    echo "not checked: what a real Prometheus answers, because there is none here"
    finish
fi
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
printf 'global: {scrape_interval: 1s}\nscrape_configs: [{job_name: gyre, static_configs: [{targets: ["%s"]}]}]\n' "${page:7:-1}" \
    >"$folder/prometheus.yml"
prometheus --config.file="$folder/prometheus.yml" --storage.tsdb.path="$folder/samples" \
    --web.listen-address="127.0.0.1:$port" >"$folder/scraped" 2>&1 &
scraper=$!
checks=$((checks + 1)) called="the queries of docs/grafana/gyre.json, by Prometheus"
cat "$folder/queries.py" - >"$folder/judge.py" <<'PYTHON'
until = time.monotonic() + 120 * float(sys.argv[2])
lacking = targets
while lacking and time.monotonic() < until:
    time.sleep(0.5)
    still = []
    for title, expression, legend in lacking:
        words = expression.replace('$program', '.*').replace('$kernel', '.*').replace('$__rate_interval', '10s')
        try:
            answer = json.loads(fetch(sys.argv[1] + '/api/v1/query?' + urllib.parse.urlencode({'query': words})))
        except OSError:
            answer = {'data': {'result': []}} # it is not up yet
        if not answer['data']['result']:
            still.append((title, expression, legend))
    lacking = still
assert not lacking, lacking
PYTHON
python3 "$folder/judge.py" "http://127.0.0.1:$port" "$patience" >"$folder/judged" 2>&1 || fail "$(<"$folder/judged") $(tail -n 5 "$folder/scraped")"
finish
