/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that needs a function which nothing provides: refused by the dynamic loader at load. */
#include "stub_ops.h"

int gyre_test_nobody_provides_this(void);

static gyre_status unresolved_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    stub_probe(desc, info);
    info->score = gyre_test_nobody_provides_this();
    return GYRE_OK;
}

static const gyre_backend_ops unresolved_ops = {
    .size = sizeof(gyre_backend_ops), .probe = unresolved_probe, STUB_OPS};

GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {.magic = GYRE_ABI_MAGIC,
                                                             .abi_major = GYRE_ABI_MAJOR,
                                                             .abi_minor = GYRE_ABI_MINOR,
                                                             .size = sizeof(gyre_backend_plugin),
                                                             .name = "unresolved",
                                                             .build = "test",
                                                             .ops = &unresolved_ops};
