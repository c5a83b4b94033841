/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the figures that backends other than the CPU should reach. The table of cases (cases.c) holds the CPU's figures, on two
 * cores. A plain program on the same device (tests/bench/peer_opencl.c) tells what OpenCL should reach.
 */
#include <string.h>

#include "cli/bench/bench.h"
#include "cli/bench/rounds.h"

struct backend_targets {
    const char *backend, *name;
    bench_target targets[BENCH_TARGETS_MAX];
};

/* One NVIDIA H200 behind PCIe 5.0 x16. Bytes a second as messages a second: 13 GB/s, 30 GB/s. */
static const struct backend_targets others[] = {
    {"cuda", "call/48", {{"p50", "ns", false, 2200, 0}, {"p99", "ns", false, 2900, 0}}},
    {"cuda", "call/1024", {{"p50", "ns", false, 5000, 0}}},
    {"cuda", "call/1024/block", {{"p50", "ns", false, 5000, 0}}},
    {"cuda", "pair/48", {{"rate", "msg/s", true, 190e6, 0}}},
    {"cuda", "pair/48/six", {{"rate", "msg/s", true, 560e6, 0}}},
    {"cuda", "pair/4096", {{"rate", "msg/s", true, 13e9 / 4096, 0}}},
    {"cuda", "pair/65536/four", {{"rate", "msg/s", true, 30e9 / 65536, 0}}},
    {"cuda", "bridged/64..512/one", {{"rate", "msg/s", true, 50e6, 0}}},
    {"cuda", "bridged/64..512/six", {{"rate", "msg/s", true, 200e6, 0}}},
    {"cuda", "bridged/65536/four", {{"rate", "msg/s", true, 25e9 / 65536, 0}}},
    {"cuda", "steal/skewed/born", {{"ratio", "x", true, 0.90, 0}}},
    {"cuda", "steal/skewed/spread", {{"ratio", "x", true, 0.92, 0}}},
    {"cuda", "barrier/grid", {{"p50", "ns", false, 1200, 0}}},
    {"cuda", "collect/all_reduce/nvlink/4KiB", {{"p50", "ns", false, 1600, 0}}},
    {"cuda", "link/48/lone/nvlink", {{"p50", "ns", false, 950, 0}}},
    {"cuda", "link/48/rate/nvlink/1", {{"rate", "msg/s", true, 0.4e9, 0}}},
    {"cuda", "link/48/rate/nvlink/4", {{"rate", "msg/s", true, 1.6e9, 0}}},
    {"cuda", "link/48/rate/nvlink/64", {{"rate", "msg/s", true, 4e9, 0}}},
    {"cuda", "pair/vector_add", {{"rate", "msg/s", true, 40e6, 0}}},
    {"cuda", "isolated/against/call/48", {{"p50 ratio", "x", false, 1.03, 0}}},
    {"cuda", "isolated/against/stream/48", {{"ratio", "x", true, 0.97, 0}}},
    {"opencl", "isolated/against/call/48", {{"p50 ratio", "x", false, 1.03, 0}}},
    {"opencl", "isolated/against/stream/48", {{"ratio", "x", true, 0.97, 0}}},
    {"cuda", "recover/fault", {{"p50", "ns", false, 1.2e9, 0}, {"max", "ns", false, 2.5e9, 0}}},
    {"cuda", "recover/standby", {{"p50", "ns", false, 0.8e9, 0}}},
    {"cuda", "recover/loop", {{"p50", "ns", false, 0.6e9, 0}}},
    /* the whole state may have changed: 40 ms were asked then, and a tenth where a hundredth changed */
    {"cuda", "checkpoint/1GiB", {{"p50", "ns", false, 4e6, 0}, {"max", "ns", false, 40e6, 0}}},
    {"cuda", "deactivate", {{"p99", "ns", false, 0.5e6, 0}}},
    {"cuda", "terminate", {{"p99", "ns", false, 0.5e6, 0}}},
    {"cuda", "yield", {{"p99", "ns", false, 100e3, 0}}},
    {"cuda", "yield/132", {{"p99", "ns", false, 100e3, 0}}},
    {"cuda", "compile_cold", {{"p50", "ns", false, 80e6, 0}}},
    {"cuda", "compile_cached", {{"p50", "ns", false, 10e6, 0}}},
    {"cuda", "idle/park", {{"cpu", "cores", false, 0.01, 0}}},
    {"opencl", "idle/park", {{"cpu", "cores", false, 0.01, 0}}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* The targets for a row: the case's own for the CPU and for floors, else the backend's, else NULL. */
static const bench_target *find_targets(const bench_case *self, const bench_row *row)
{
    if (strcmp(row->backend, "cpu") == 0 || strcmp(row->backend, "none") == 0)
        return self->targets;
    for (size_t i = 0; i < OTHERS; i++)
        if (strcmp(others[i].backend, row->backend) == 0 && strcmp(others[i].name, self->name) == 0)
            return others[i].targets;
    return NULL;
}

void bench_row_aim(const bench_case *self, bench_row *row)
{
    const bench_target *targets = find_targets(self, row);
    for (size_t i = 0; targets && i < BENCH_TARGETS_MAX && targets[i].what; i++)
        row->targets[row->target_count++] = targets[i];
}
