#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a bundle where nothing else is: a root of its own with libc, bash and a dozen small programs, no compiler, no
# development package, no toolkit, no driver. usage: scripts/check_bundle.sh FOLDER (made by ./dev bundle); as root.
set -euo pipefail
bundle=$(cd "${1:?usage: scripts/check_bundle.sh FOLDER}" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,tmp,dev,proc,bundle,usr}
ln -s ../bin "$root/usr/bin"

for program in bash sh env timeout cp mktemp sed rm tail head cat dirname basename uname; do
    cp -L "$(command -v "$program")" "$root/bin/"
done
ldd "$root"/bin/* | awk '$2 == "=>" { print $3 } $1 ~ /^\// && NF == 2 { print $1 }' | sort -u |
    grep -v ':$' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
# what a program may expect of any Linux with this libc
for library in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1; do
    path=$(ldconfig -p | awk -v name="$library" '$1 == name && !found++ { print $NF }')
    [[ -z "$path" ]] || { mkdir -p "$root$(dirname "$path")" && cp -L "$path" "$root$path"; }
done
cp -r "$bundle/." "$root/bundle/"

# shellcheck disable=SC2016 # for the inner shell
inside()
{
    unshare --mount --pid --fork bash -c '
        root="$1"
        shift
        mount -t proc proc "$root/proc"
        mount --bind /dev "$root/dev"
        exec chroot "$root" env -i PATH=/bin HOME=/tmp "$@"' inside "$root" "$@"
}

failed=0
# expect TEXT COMMAND...: it ends well and says that.
expect()
{
    local text="$1" output
    shift
    if output=$(inside "$@" 2>&1) && [[ "$output" == *"$text"* ]]; then
        printf 'ok      %s\n' "$*"
    else
        printf 'FAILED  %s: expected "%s" in\n%s\n' "$*" "$text" "$output"
        failed=1
    fi
}

expect '0 failed' /bundle/run conformance cpu
expect '0 failed' /bundle/run kernels cpu
expect '0 wrong' /bundle/run demo 20000
expect 'ok' /bundle/run stress --set gyre.backend=cpu sizes
expect "libcuda.so.1' was not found" /bundle/run gyre backends --why cuda
if [[ -e "$bundle"/gyre/lib/libnvrtc.so.13 || -e "$bundle"/gyre/lib/libnvrtc.so.12 ]]; then
    expect 'within the dialect' /bundle/run gyre compile --backend cuda --arch sm_90 /bundle/examples/vector_add/vector_add.gyre.c
else
    output=$(inside /bundle/run gyre compile --backend cuda --arch sm_90 /bundle/examples/vector_add/vector_add.gyre.c 2>&1) || true
    [[ "$output" == *'there is no NVRTC'* ]] || { printf 'FAILED  no sentence for NVRTC:\n%s\n' "$output"; failed=1; }
fi
exit "$failed"
