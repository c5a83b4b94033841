#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# with_arm64.sh COMMAND...: runs a command for which programs of arm64 start as this system's own do, each by an emulator of a user's
# process. Nothing is set up for the system: the kernel's list of such programs is one of a namespace that ends with the
# command (Linux 6.7). Exit code 125: that cannot be here.
set -euo pipefail

export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
qemu="$(command -v qemu-aarch64-static)" || exit 125
list=/proc/sys/fs/binfmt_misc
if compgen -G "$list/qemu-aarch64*" >/dev/null; then # this system has them in its list
    exec "$@"
fi
# the first bytes of an ELF file of arm64, and which of their bits count
head='\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
export GYRE_ARM64_ENTRY=":qemu-aarch64:M::$head:$mask:$qemu:F"
# shellcheck disable=SC2016 # the inner shell's words
exec unshare --user --map-root-user --mount bash -c '
    { mount -t binfmt_misc none "$0" && printf "%s" "$GYRE_ARM64_ENTRY" >"$0/register"; } 2>/dev/null || exit 125
    unset GYRE_ARM64_ENTRY
    exec "$@"' "$list" "$@"
