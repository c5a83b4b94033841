#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_isolated_layout.sh KERNELS   (GYRE: the command)
#
# Workers of CUDA cannot pass over what a dead one answered, so with isolation = process messages lie in slots: what
# is told of a queue's memory, and of a section that asks for something else, goes by that.
set -u
# shellcheck source=tests/system/use/cli/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../system/use/cli/expect.sh"
letters="$1/bridged.gyre.c"

run config --json --backend cuda --memory "$letters"
exits 0
prints '"request_stride":64,'
run config --json --backend cuda --set backend.cuda.isolation=process --memory "$letters"
exits 0
prints '"request_stride":65088,'
prints '"bridged":0,'
run call --backend cuda --set backend.cuda.isolation=process --set queue.letters.layout=bridged "$letters" '{}'
exits 1
says "layout = bridged is not there on this backend with isolation = process; use auto or slots"
finish
