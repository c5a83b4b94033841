/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long copies between devices take (peers.h). Memory of a device is taken for the time of the measurement. Nothing is
 * measured of a device that cannot be opened or has no memory left. Takes no lock but those of the devices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/devices.h"
#include "core/device/peers.h"
#include "core/device/runtime.h"
#include "gyre/waiting.h"

enum { SMALL = 64, SMALL_TIMES = 15, LARGE = 16 << 20, LARGE_TIMES = 3 };

/* One pair of devices that is measured. */
struct pair {
    gyre_runtime *runtime;
    struct gyre_dispatch *from, *to;
    gyre_memory *source, *target;
    unsigned char *host; /* LARGE bytes, for the way through the host */
    enum gyre_reach reach;
};

static gyre_status copy_through_host(const struct pair *pair, uint64_t size)
{
    gyre_transfer_desc down = {.size = sizeof down,
                               .kind = GYRE_TRANSFER_DOWNLOAD,
                               .memory = pair->source,
                               .byte_count = size,
                               .target = pair->host};
    gyre_transfer_desc up = {.size = sizeof up,
                             .kind = GYRE_TRANSFER_UPLOAD,
                             .memory = pair->target,
                             .byte_count = size,
                             .source = pair->host};
    const gyre_status status = gyre_dispatch_transfer(pair->from, &down);
    return status == GYRE_OK ? gyre_dispatch_transfer(pair->to, &up) : status;
}

static gyre_status copy_once(const struct pair *pair, uint64_t size)
{
    const gyre_copy_desc desc = {
        .size = sizeof desc, .source = pair->source, .target = pair->target, .byte_count = size};
    return pair->reach == GYRE_REACH_HOST ? copy_through_host(pair, size)
                                          : gyre_peers_copy(pair->runtime, pair->from, pair->to, &desc);
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* The median of how long a copy takes; 0 when a copy fails. The first copy does not count: it prepares the way. */
static uint64_t time_copies(const struct pair *pair, uint64_t size, unsigned times)
{
    uint64_t taken[SMALL_TIMES > LARGE_TIMES ? SMALL_TIMES : LARGE_TIMES];
    gyre_status status = copy_once(pair, size);
    for (unsigned i = 0; status == GYRE_OK && i < times; i++) {
        const uint64_t begun = gyre_clock_ns();
        status = copy_once(pair, size);
        taken[i] = gyre_clock_ns() - begun;
    }
    if (status != GYRE_OK)
        return 0;
    qsort(taken, times, sizeof taken[0], compare_times);
    return taken[times / 2] ? taken[times / 2] : 1;
}

static void measure_pair(struct pair *pair, struct gyre_peer_figure *figure)
{
    gyre_status status = gyre_dispatch_memory_alloc(pair->from, LARGE, &pair->source);
    if (status == GYRE_OK)
        status = gyre_dispatch_memory_alloc(pair->to, LARGE, &pair->target);
    if (status == GYRE_OK) {
        figure->latency_ns = time_copies(pair, SMALL, SMALL_TIMES);
        const uint64_t large_ns = time_copies(pair, LARGE, LARGE_TIMES);
        figure->bytes_per_second = large_ns ? LARGE * UINT64_C(1000000000) / large_ns : 0;
    }
    gyre_error_clear();
    gyre_dispatch_memory_release(pair->from, pair->source);
    gyre_dispatch_memory_release(pair->to, pair->target);
}

/* Takes back what a remembered file that is damaged, or lacks something, put there. */
static void forget_figures(struct gyre_peer_matrix *matrix)
{
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++)
            matrix->figures[from][to].latency_ns = matrix->figures[from][to].bytes_per_second = 0;
}

static gyre_status measure_all(gyre_runtime *runtime, struct gyre_peer_matrix *matrix)
{
    unsigned char *host = calloc(1, LARGE);
    if (!host)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to measure copies between devices");
    forget_figures(matrix);
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++) {
            struct pair pair = {.runtime = runtime,
                                .from = matrix->devices[from].dispatch,
                                .to = matrix->devices[to].dispatch,
                                .host = host,
                                .reach = matrix->figures[from][to].reach};
            if (pair.from && pair.to)
                measure_pair(&pair, &matrix->figures[from][to]);
        }
    free(host);
    return GYRE_OK;
}

/* ---- the devices ---- */

static void add_device(gyre_runtime *runtime, struct gyre_peer_matrix *matrix, const char *backend,
                       uint32_t ordinal)
{
    if (matrix->count == GYRE_PEER_DEVICES_MAX) {
        matrix->left_out++;
        return;
    }
    struct gyre_peer_device *device = &matrix->devices[matrix->count++];
    snprintf(device->backend, sizeof device->backend, "%s", backend);
    device->ordinal = ordinal;
    if (gyre_runtime_device(runtime, backend, ordinal, &device->dispatch) == GYRE_OK) {
        snprintf(device->name, sizeof device->name, "%s", gyre_dispatch_device_info(device->dispatch)->name);
        return;
    }
    device->dispatch = NULL;
    snprintf(device->lack, sizeof device->lack, "%s", gyre_error_text());
    gyre_error_clear();
}

static void add_devices(gyre_runtime *runtime, struct gyre_peer_matrix *matrix)
{
    for (size_t i = 0; i < gyre_registry_count(runtime->registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(runtime->registry, i);
        if (!candidate->enabled || gyre_registry_judge(runtime->registry, i) != GYRE_OK)
            continue;
        for (uint32_t ordinal = 0; ordinal < candidate->device_count; ordinal++)
            add_device(runtime, matrix, candidate->name, ordinal);
    }
    gyre_error_clear();
}

static void ask_ways(const gyre_runtime *runtime, struct gyre_peer_matrix *matrix)
{
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++)
            if (matrix->devices[from].dispatch && matrix->devices[to].dispatch)
                matrix->figures[from][to].reach =
                    gyre_peers_reach(runtime, matrix->devices[from].dispatch, matrix->devices[to].dispatch);
}

gyre_status gyre_peers_measure(gyre_runtime *runtime, bool again, struct gyre_peer_matrix **out)
{
    struct gyre_peer_matrix *matrix = calloc(1, sizeof *matrix);
    *out = NULL;
    if (!matrix)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a matrix of devices");
    add_devices(runtime, matrix);
    ask_ways(runtime, matrix);
    gyre_status status = GYRE_OK;
    if (again || !gyre_peers_recall(runtime, matrix)) {
        status = measure_all(runtime, matrix);
        if (status == GYRE_OK)
            gyre_peers_keep(runtime, matrix);
    }
    if (status == GYRE_OK)
        *out = matrix;
    else
        free(matrix);
    return status;
}
