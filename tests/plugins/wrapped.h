/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For plugins that stand in front of another one: opens the plugin that a parameter names, through the host's
 * services. The key is the wrapper's own, so that wrappers can be stacked. It is never closed, as in the
 * core.
 */
#ifndef GYRE_TESTS_PLUGINS_WRAPPED_H
#define GYRE_TESTS_PLUGINS_WRAPPED_H

#include "gyre/backend.h"

#include <string.h>

static inline const char *wrapped_parameter(const gyre_parameter *parameters, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(parameters[i].key, key) == 0)
            return parameters[i].value;
    return NULL;
}

/* The operations of the plugin whose path the parameter `key` is; NULL with a sentence when there is none. */
static inline const gyre_backend_ops *wrapped_open(const gyre_host *host, const gyre_parameter *parameters,
                                                   size_t count, const char *key)
{
    void *library, *symbol;
    const char *path = wrapped_parameter(parameters, count, key);
    if (!path) {
        host->error(GYRE_CONFIG, "this plugin wraps another: set `%s` to the path of that one", key);
        return NULL;
    }
    if (host->library_open(path, &library) != GYRE_OK ||
        host->library_symbol(library, GYRE_BACKEND_SYMBOL, &symbol) != GYRE_OK)
        return NULL;
    return ((const gyre_backend_plugin *)symbol)->ops;
}

#define WRAPPER_PLUGIN(name_, ops_)                                                                          \
    GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {.magic = GYRE_ABI_MAGIC,                    \
                                                                 .abi_major = GYRE_ABI_MAJOR,                \
                                                                 .abi_minor = GYRE_ABI_MINOR,                \
                                                                 .size = sizeof(gyre_backend_plugin),        \
                                                                 .name = name_,                              \
                                                                 .build = "test 1",                          \
                                                                 .ops = &ops_}

#endif
