/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs lines of a runtime, opens its observation file, lists the runtime's guests, and checks that the calling process owns the
 * runtime. Lock: runtime->lock for the guests.
 */
#include "core/device/runtime.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/observation/observation.h"
#include "gyre/waiting.h"

static bool is_logged(const gyre_runtime *runtime, gyre_log_level level)
{
    return runtime->log && (int)level <= __atomic_load_n(&runtime->log_level, __ATOMIC_RELAXED);
}

void gyre_runtime_log(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    struct gyre_observation *observation = level <= GYRE_LOG_INFO ? gyre_runtime_observation(runtime) : NULL;
    const bool logged = is_logged(runtime, level);
    if (!logged && !observation)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gyre_observation_event(observation, GYRE_OBSERVE_SAID, 0, "%s", text);
    if (level <= GYRE_LOG_WARNING)
        gyre_observation_trouble(observation, (uint32_t)level, text);
    if (logged)
        runtime->log(runtime->log_context, (int)level, text);
}

void gyre_runtime_log_handler(const gyre_runtime *runtime, gyre_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (!is_logged(runtime, level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    runtime->log(runtime->log_context, (int)level, text);
}

/* Under the lock. */
static gyre_status open_observation(gyre_runtime *runtime)
{
    static const mode_t modes[] = {0600, 0640, 0644}; /* in the order of the words of `access` */
    const struct gyre_config *config = runtime->config;
    const struct gyre_observation_desc desc = {
        .folder = gyre_config_text(config, GYRE_SECTION_OBSERVE, NULL, "folder"),
        .mode = modes[gyre_config_int(config, GYRE_SECTION_OBSERVE, NULL, "access")],
        .every_ns = gyre_config_ns(config, GYRE_SECTION_OBSERVE, NULL, "every_ms"),
        .keep = (unsigned)gyre_config_int(config, GYRE_SECTION_OBSERVE, NULL, "keep"),
        .tracing = (enum gyre_tracing)gyre_config_int(config, GYRE_SECTION_OBSERVE, NULL, "trace")};
    const gyre_observe_record about = {.kind = GYRE_OBSERVE_RUNTIME, .made_ns = gyre_clock_ns()};
    struct gyre_observation *observation;
    const gyre_status status = gyre_observation_open(&desc, &observation);
    runtime->unobserved = status != GYRE_OK;
    if (status != GYRE_OK)
        return status;
    runtime->observed = gyre_observation_enter(observation, &about);
    __atomic_store_n(&runtime->observation, observation, __ATOMIC_RELEASE);
    return GYRE_OK;
}

void gyre_runtime_observe(gyre_runtime *runtime)
{
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&runtime->lock);
    if (!runtime->observation && !gyre_config_bool(runtime->config, GYRE_SECTION_OBSERVE, NULL, "enabled"))
        runtime->unobserved = true;
    if (!runtime->observation && !runtime->unobserved)
        status = open_observation(runtime);
    pthread_mutex_unlock(&runtime->lock);
    if (status == GYRE_OK)
        return;
    gyre_runtime_log(runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
    gyre_error_clear();
}

void gyre_runtime_add_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest)
{
    pthread_mutex_lock(&runtime->lock);
    guest->next = runtime->guests;
    runtime->guests = guest;
    pthread_mutex_unlock(&runtime->lock);
}

bool gyre_runtime_remove_guest(gyre_runtime *runtime, struct gyre_runtime_guest *guest)
{
    pthread_mutex_lock(&runtime->lock);
    struct gyre_runtime_guest **link = &runtime->guests;
    while (*link && *link != guest)
        link = &(*link)->next;
    bool listed = *link != NULL;
    if (listed) {
        *link = guest->next;
        guest->leaves = true;
    }
    pthread_mutex_unlock(&runtime->lock);
    return listed;
}

gyre_status gyre_runtime_check_own(const gyre_runtime *runtime, const char *call)
{
    if (!runtime->foreign)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID, "%s: this runtime belongs to the process that forked this one; open another one here",
        call);
}
