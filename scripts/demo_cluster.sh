#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three NATS servers and three members of a cluster on this machine, a load, and kills by SIGKILL: of members, which are started again, and of a server, which
# stays away: two of three go on.
# usage: demo_cluster.sh PROGRAMS [SECONDS], in the project's folder; PROGRAMS has gyre and gyre_teller. Exit code 77 without nats-server.
set -euo pipefail
programs="$1"
seconds="${2:-36}"
handler=examples/command/accounts.gyre.c
server_program="$(PATH="$PATH:/usr/sbin" command -v nats-server || true)"
[[ -n "$server_program" ]] || {
    echo "nats-server is not installed (Debian: nats-server)"
    exit 77
}
folder="$(mktemp -d)"
loops=()

# Whatever is in the files of numbers was started here.
# shellcheck disable=SC2317 # the trap calls it
end_all()
{
    touch "$folder/over"
    cat "$folder"/*.pid 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    wait "${loops[@]}" 2>/dev/null || true
    rm -rf "$folder"
}
trap end_all EXIT

# free_port: a port of loopback at which nobody answers, and that was not given before.
ports=()
free_port()
{
    port=$((20000 + RANDOM % 10000))
    while [[ " ${ports[*]} " == *" $port "* ]] || (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((20000 + RANDOM % 10000))
    done
    ports+=("$port")
}

# keep_running NAME COMMAND...: starts it again when it ended, until the demonstration is over; its number is in NAME.pid.
keep_running()
{
    local name="$1" number
    shift
    while [[ ! -e "$folder/over" && ! -e "$folder/$name.stays" ]]; do
        "$@" >>"$folder/$name.log" 2>&1 &
        number=$!
        echo "$number" >"$folder/$name.pid"
        [[ ! -e "$folder/over" ]] || kill -9 "$number"
        wait "$number" 2>/dev/null || sleep 0.3
    done
}

for i in 0 1 2 3 4 5; do free_port; done
routes="nats://127.0.0.1:${ports[3]},nats://127.0.0.1:${ports[4]},nats://127.0.0.1:${ports[5]}"
for i in 0 1 2; do
    keep_running "server$i" "$server_program" -js -sd "$folder/server$i" -a 127.0.0.1 -p "${ports[i]}" -n "server$i" \
        --cluster_name demo --cluster "nats://127.0.0.1:${ports[i + 3]}" --routes "$routes" 2>/dev/null &
    loops+=($!)
done

cat >"$folder/gyre.ini" <<END
[cluster]
app = demo
transport = nats
url = nats://127.0.0.1:${ports[0]},nats://127.0.0.1:${ports[1]},nats://127.0.0.1:${ports[2]}
replicas = 3
shards = 12
lease_ms = 2000
settle_ms = 2000
checkpoint_ms = 500
reach_ms = 20000

[kernel.accounts]
keys = 2000
END
export GYRE_CONFIG="$folder/gyre.ini" XDG_RUNTIME_DIR="$folder"
for i in 0 1 2; do
    keep_running "member$i" "$programs/gyre" serve "$handler" --set "cluster.member=member$i" 2>/dev/null &
    loops+=($!)
done

begin=$SECONDS
echo "three servers and three members on this machine, load for $seconds s"
until [[ "$("$programs/gyre" cluster status 2>/dev/null | awk 'found && $2 ~ /^member/ { n++ } $1 == "SHARD" { found = 1 } END { print n + 0 }')" == 12 ]]; do
    ((SECONDS - begin < 90)) || {
        echo "the members did not come to own their shards; the last lines of their logs:" >&2
        tail -n 5 "$folder"/*.log >&2
        exit 1
    }
    sleep 0.3
done
echo "all shards have an owner after $((SECONDS - begin)) s"

"$programs/gyre_teller" "$seconds" >"$folder/teller.out" 2>&1 &
teller=$!
echo "$teller" >"$folder/teller.pid"
tail -q -n +1 -f --pid="$teller" "$folder/teller.out" 2>/dev/null &
follower=$!
loops+=("$follower")

# kill_after SECONDS NAME...: SIGKILL to them, so long after the kill before.
kills=0
kill_after()
{
    local name
    sleep "$1"
    kill -0 "$teller" 2>/dev/null || return 0
    for name in "${@:2}"; do
        [[ "$name" != server* ]] || touch "$folder/$name.stays"
        if kill -9 "$(cat "$folder/$name.pid")" 2>/dev/null; then
            echo "        kill -9 $name"
            kills=$((kills + 1))
        fi
    done
}

step="$(awk -v all="$seconds" 'BEGIN { print all / 6 }')"
kill_after "$step" member0
kill_after "$step" server0
kill_after "$step" member1
kill_after "$step" member2 member0
wait "$teller" && code=0 || code=$?
rm -f "$folder/teller.pid"
wait "$follower" 2>/dev/null || true
echo "kills          $(printf %10d "$kills")"
if "$programs/gyre" cluster verify >"$folder/verified" 2>&1; then
    echo "kept                agrees"
else
    cat "$folder/verified"
    code=1
fi
if ((code)); then
    tail -n 3 "$folder"/member*.log >&2
fi
exit "$code"
