/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin whose head or table is wrong in one way; built several times, the way is a compile definition.
 * Its constructor ends the process: nothing of a plugin that can be refused by its file may run.
 */
#include "stub_ops.h"

#include <unistd.h>

#ifndef PLUGIN_MAGIC
#define PLUGIN_MAGIC GYRE_ABI_MAGIC
#endif
#ifndef PLUGIN_MAJOR
#define PLUGIN_MAJOR GYRE_ABI_MAJOR
#endif
#ifndef PLUGIN_MINOR
#define PLUGIN_MINOR GYRE_ABI_MINOR
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(gyre_backend_plugin)
#endif
#ifndef PLUGIN_NAME
#define PLUGIN_NAME "misfit"
#endif
#ifndef OPS_SIZE
#define OPS_SIZE sizeof(gyre_backend_ops)
#endif

#ifdef MUST_NOT_RUN
__attribute__((constructor)) static void run(void)
{
    _exit(99);
}
#endif

static const gyre_backend_ops misfit_ops = {
    .size = OPS_SIZE,
#ifndef LACKS_PROBE
    .probe = stub_probe,
#endif
    STUB_OPS,
};

GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {
    .magic = PLUGIN_MAGIC,
    .abi_major = PLUGIN_MAJOR,
    .abi_minor = PLUGIN_MINOR,
    .size = PLUGIN_SIZE,
    .name = PLUGIN_NAME,
    .build = "test",
    .ops = &misfit_ops,
};
