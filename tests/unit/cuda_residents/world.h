/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the test's driver with kernels on it, for each case. */
#ifndef GYRE_TESTS_UNIT_CUDA_RESIDENTS_WORLD_H
#define GYRE_TESTS_UNIT_CUDA_RESIDENTS_WORLD_H

#include "core/loader/host.h"
#include "gpu.h"
#include "unit/unit.h"

enum { KERNELS = 3, BLOCKS = 2 };

struct world {
    struct gyre_host_services host;
    gyre_device device;
    struct cuda_kernel kernel;
    gyre_module module;
    gyre_control_region *controls[KERNELS];
    gyre_resident *residents[KERNELS];
    bool timed; /* of kernels that are started: measure their stays */
    char log[2048];
};

/** Everything but what calls the driver. */
void make_world(struct world *world, uint32_t residency_ms);
/** The same, and opens the device; must succeed. */
void open_world(struct world *world, uint32_t residency_ms);
void close_world(struct world *world);

void order(struct world *world, int i, uint64_t epoch, uint64_t verb);
/** Launches kernel `i`: what became of it. `stop`, or release and free, afterwards. */
gyre_status try_start(struct world *world, int i);
/** Must succeed. */
void start(struct world *world, int i);
/** A deadline. */
uint64_t in_ms(const struct world *world, uint64_t ms);

TCase *failure_cases(void);
TCase *peer_cases(void);

#endif
