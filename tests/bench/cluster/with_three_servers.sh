#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program beside three NATS servers, which keep everything together: with_three_servers.sh PROGRAM ARGUMENT... Their places are in CLUSTER_URL, their
# numbers in CLUSTER_SERVER, and CLUSTER_REPLICAS is 3. NATS_SERVER is the program of the servers (default: nats-server). Exit code 77 when it is not here.
set -euo pipefail
server="$(command -v "${NATS_SERVER:-nats-server}" || true)"
[[ -n "$server" ]] || { echo "nats-server is not installed (Debian: nats-server)"; exit 77; }
folder="$(mktemp -d)"
numbers=() ports=()
end()
{
    kill -9 "${numbers[@]}" 2>/dev/null || true
    wait "${numbers[@]}" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT

for i in 0 1 2 3 4 5; do
    port=$((20000 + RANDOM % 10000))
    while [[ " ${ports[*]} " == *" $port "* ]] || (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((20000 + RANDOM % 10000))
    done
    ports+=("$port")
done
for i in 0 1 2; do
    "$server" -js -sd "$folder/server$i" -a 127.0.0.1 -p "${ports[i]}" -n "server$i" --cluster_name bench \
        --cluster "nats://127.0.0.1:${ports[i + 3]}" \
        --routes "nats://127.0.0.1:${ports[3]},nats://127.0.0.1:${ports[4]},nats://127.0.0.1:${ports[5]}" \
        >"$folder/log$i" 2>&1 &
    numbers+=($!)
done
until grep -qs "JetStream cluster new metadata leader" "$folder"/log?; do
    kill -0 "${numbers[@]}" 2>/dev/null || { cat "$folder"/log?; exit 1; }
    sleep 0.1
done
export CLUSTER_TRANSPORT=nats CLUSTER_REPLICAS=3 CLUSTER_SERVER="${numbers[*]}"
export CLUSTER_URL="nats://127.0.0.1:${ports[0]},nats://127.0.0.1:${ports[1]},nats://127.0.0.1:${ports[2]}"
"$@"
