/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a runtime from its configuration, and closes it with everything that it owns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/api/observe.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/text.h"
#include "core/device/buffer.h"
#include "core/device/open_device.h"
#include "core/kernel/forked.h"
#include "core/kernel/type_registry.h"
#include "core/links/observed.h"
#include "core/observation/observation.h"
#include "core/recovery/runtime_care.h"
#include "core/registry/registry.h"

const char *gyre_version(void)
{
    return GYRE_VERSION_TEXT;
}

/* Loads the configuration with the descriptor's settings, and its backend as one more setting. */
static gyre_status load_config(gyre_runtime *runtime, const gyre_open_desc *desc, bool typed)
{
    size_t count = 0;
    char backend[128];
    gyre_status status;
    while (desc->settings && desc->settings[count])
        count++;
    const char **settings = calloc(count + 2, sizeof *settings);
    if (!settings)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %zu settings", count);
    if (count)
        memcpy(settings, desc->settings, count * sizeof *settings);
    if (desc->backend) {
        snprintf(backend, sizeof backend, "gyre.backend=%s", desc->backend);
        settings[count] = backend;
    }
    struct gyre_config_desc config = {.config_path = desc->config_path,
                                      .command_line = typed ? settings : NULL,
                                      .api = typed ? NULL : settings};
    status = gyre_config_load(&config, &runtime->config);
    free(settings);
    return status;
}

static void report_warnings(const gyre_runtime *runtime)
{
    size_t count = 0;
    const char *const *warnings = gyre_config_warnings(runtime->config, &count);
    for (size_t i = 0; i < count; i++)
        gyre_runtime_log(runtime, GYRE_LOG_WARNING, "%s", warnings[i]);
}

/* Whether the plugin of a backend is there, or its lack has a reason: the backend was not built. */
static bool is_explained(const struct gyre_candidate *candidate)
{
    return !candidate->built || !candidate->enabled || access(candidate->library, F_OK) == 0;
}

/* Warns about a section [backend.NAME] whose name is no backend's, and near to the name of one: its settings have no effect. */
static void report_strangers(const gyre_runtime *runtime)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX];
    char hint[GYRE_TEXT_HINT_SIZE];
    size_t known = 0;
    const size_t count = gyre_registry_count(runtime->registry);
    for (size_t i = 0; i < count && known < NAMES_MAX; i++)
        if (is_explained(gyre_registry_at(runtime->registry, i)))
            names[known++] = gyre_registry_at(runtime->registry, i)->name;
    for (size_t i = 0; i < count; i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(runtime->registry, i);
        if (!is_explained(candidate) && gyre_text_hint(candidate->name, names, known, hint)[0])
            gyre_runtime_log(runtime, GYRE_LOG_WARNING, "%s: there is no backend '%s'%s", candidate->origin,
                             candidate->name, hint);
    }
}

static gyre_status open_runtime(const gyre_open_desc *desc, bool typed, gyre_runtime **out)
{
    gyre_open_desc given = {.size = sizeof given};
    if (!out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_open", {"out", out}, GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a runtime");
    pthread_mutex_init(&runtime->lock, NULL);
    pthread_cond_init(&runtime->settled, NULL);
    runtime->log = given.log;
    runtime->log_context = given.log_context;
    runtime->observe = gyre_api_observe;
    runtime->observe_links = gyre_pipelines_observe;
    gyre_status status = gyre_care_open(runtime);
    if (status == GYRE_OK)
        status = gyre_faults_check();
    if (status == GYRE_OK)
        status = load_config(runtime, &given, typed);
    if (status == GYRE_OK) {
        runtime->log_level = (int)gyre_config_int(runtime->config, GYRE_SECTION_GYRE, NULL, "log_level") + 1;
        report_warnings(runtime);
        status = gyre_registry_create(runtime->config, &runtime->registry);
        if (status == GYRE_OK)
            report_strangers(runtime);
    }
    if (status != GYRE_OK) {
        gyre_close(runtime);
        return status;
    }
    gyre_runtime_enlist(runtime);
    *out = runtime;
    return GYRE_OK;
}

static void end_guests(gyre_runtime *runtime)
{
    while (runtime->guests) {
        struct gyre_runtime_guest *guest = runtime->guests;
        if (gyre_runtime_remove_guest(runtime, guest))
            guest->end(guest);
    }
}

gyre_status gyre_open(const gyre_open_desc *desc, gyre_runtime **out)
{
    return open_runtime(desc, false, out);
}

gyre_status gyre_runtime_open_typed(const gyre_open_desc *desc, gyre_runtime **out)
{
    return open_runtime(desc, true, out);
}

void gyre_runtime_preset_log_level(gyre_runtime *runtime, gyre_log_level level)
{
    const struct gyre_config_value *configured =
        gyre_config_find(runtime->config, GYRE_SECTION_GYRE, NULL, "log_level");
    if (configured && strcmp(configured->origin, "default") == 0)
        __atomic_store_n(&runtime->log_level, (int)level,
                         __ATOMIC_RELAXED); /* relaxed: a line more or less does not matter */
}

const struct gyre_config *gyre_runtime_config(const gyre_runtime *runtime)
{
    return runtime->config;
}

void gyre_close(gyre_runtime *runtime)
{
    if (!runtime || runtime->foreign)
        return;
    gyre_runtime_unlist(runtime);
    end_guests(runtime);
    gyre_care_stop(runtime);
    while (runtime->kernels)
        gyre_kernel_release(runtime->kernels);
    gyre_types_forget(runtime);
    gyre_buffers_close(runtime);
    gyre_runtime_close_devices(runtime);
    gyre_care_close(runtime);
    gyre_observation_leave(runtime->observation, runtime->observed);
    gyre_observation_close(runtime->observation);
    gyre_registry_destroy(runtime->registry);
    gyre_config_destroy(runtime->config);
    pthread_cond_destroy(&runtime->settled);
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}
