/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stddef.h>
#include <string.h>

/* A backend that learns something loses its row here: a test of each benchmark that has to be refused says so. */
static const struct {
    const char *backend;
    enum savina_need need;
    const char *reason;
} lacks[] = {
    {"cuda", NEEDS_KEYED, "its links end at a keyed actor, which is not there on CUDA"},
};

const char *places_lack(const char *backend, unsigned needs)
{
    for (size_t i = 0; backend && i < sizeof lacks / sizeof *lacks; i++)
        if (strcmp(lacks[i].backend, backend) == 0 && needs & lacks[i].need)
            return lacks[i].reason;
    return NULL;
}
