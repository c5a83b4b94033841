#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program with a NATS server of its own: with_nats.sh PROGRAM ARGUMENT... The server's place is in CLUSTER_URL, its number in
# CLUSTER_SERVER. NATS_ARGUMENTS are further arguments of the server; with NATS_PLAIN=1 it runs without JetStream. Exit code 77 when there is no nats-server here.
set -euo pipefail
server="$(command -v nats-server || true)"
[[ -n "$server" ]] || { echo "nats-server is not installed (Debian: nats-server)"; exit 77; }
folder="$(mktemp -d)"
jetstream=(-js -sd "$folder/data")
[[ -z "${NATS_PLAIN:-}" ]] || jetstream=()
# shellcheck disable=SC2086 # arguments, one a word
"$server" "${jetstream[@]}" ${NATS_ARGUMENTS:-} -a 127.0.0.1 -p -1 --ports_file_dir "$folder" >"$folder/log" 2>&1 &
CLUSTER_SERVER=$!
trap 'kill "$CLUSTER_SERVER" 2>/dev/null || true; wait "$CLUSTER_SERVER" 2>/dev/null || true; rm -rf "$folder"' EXIT
until ports="$(cat "$folder"/*.ports 2>/dev/null)" && [[ "$ports" == *nats://* ]]; do
    kill -0 "$CLUSTER_SERVER" 2>/dev/null || { cat "$folder/log"; exit 1; }
    sleep 0.05
done
CLUSTER_URL="nats://${ports#*nats://}"
export CLUSTER_SERVER CLUSTER_TRANSPORT=nats CLUSTER_URL="${CLUSTER_URL%%\"*}"
"$@"
