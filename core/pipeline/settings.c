/* SPDX-License-Identifier: Apache-2.0 */
/* What the pipeline takes from the configuration, and where the headers of the dialect are. */
#include "core/base/places.h"
#include "core/pipeline/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MINUTE_NS (UINT64_C(60) * 1000000000)

static struct {
    pthread_once_t once;
    bool found;
    char folder[PATH_MAX];
} headers = {.once = PTHREAD_ONCE_INIT};

void gyre_pipeline_settings_read(const struct gyre_config *config, const char *backend,
                                 struct gyre_pipeline_settings *settings)
{
    (void)backend;
    *settings = (struct gyre_pipeline_settings){
        .check = GYRE_CHECK_AUTO, .cache_dir = "", .compile_timeout_ns = MINUTE_NS, .options = ""};
    if (!config)
        return;
}

/* Home is LIBRARY_FOLDER/gyre: the headers are in `include` of the same prefix, lib/ or lib/TRIPLET/ deep. */
static void find_headers(void)
{
    static const char *const candidates[] = {"../../include", "../../../include"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0] && !headers.found; i++) {
        char place[PATH_MAX], file[PATH_MAX + 16];
        int length = snprintf(place, sizeof place, "%s/%s", gyre_place_home(), candidates[i]);
        if (length < 0 || (size_t)length >= sizeof place || !realpath(place, headers.folder))
            continue;
        snprintf(file, sizeof file, "%s/gyre/kernel.h", headers.folder);
        headers.found = access(file, R_OK) == 0;
    }
}

const char *gyre_pipeline_headers(void)
{
    pthread_once(&headers.once, find_headers);
    return headers.found ? headers.folder : NULL;
}
