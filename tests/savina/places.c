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
    {NULL, 0, NULL}, /* nothing */
};

const char *places_lack(const char *backend, unsigned needs)
{
    for (size_t i = 0; backend && lacks[i].backend; i++)
        if (strcmp(lacks[i].backend, backend) == 0 && needs & lacks[i].need)
            return lacks[i].reason;
    return NULL;
}
