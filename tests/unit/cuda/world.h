/* SPDX-License-Identifier: Apache-2.0 */
/* A device that only compiles, the real services of the core, and a folder, for each case. */
#ifndef GYRE_TESTS_UNIT_CUDA_WORLD_H
#define GYRE_TESTS_UNIT_CUDA_WORLD_H

#include "core/loader/host.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_device.h"
#include "unit/unit.h"

struct world {
    struct gyre_host_services host;
    gyre_device *device;
    char folder[64];
    char artifact[128], dependencies[128], unit[128];
    char messages[16384];
    void *image;
    size_t image_size;
    gyre_module *module;
};

/** Opens a device for `architecture`; `parts` is the folder of what kernels are linked with, PARTS_FOLDER. */
void world_open_parts(struct world *world, const char *architecture, const char *parts);
void world_open(struct world *world, const char *architecture);
void world_close(struct world *world);
/** Compiles a kernel file as the pipeline does; the result is read into `image`. */
gyre_status world_compile(struct world *world, const char *source, const char *options);
gyre_status world_compile_text(struct world *world, const char *text);
/** Loads `image`; what was loaded before is released. */
gyre_status world_load(struct world *world);
/** Fails the case unless the error's text contains `part`. */
void expect_text(const char *part);
/** A file's text, for free. */
char *world_read(const char *path, size_t *size);

/** How often residents were asked to leave and to come back. */
extern int quiet_begun, quiet_ended;

TCase *kernel_cases(int half); /* 1, 2 */
TCase *cubin_cases(void);
TCase *driver_cases(void);
TCase *parts_cases(void);

#endif
