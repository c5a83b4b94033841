/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what the process did, after a stall and after a loss (keep_record.h). The watchdog's thread does it, because nobody waits for
 * that one: a worker process is replaced meanwhile.
 *
 * A service that loses a worker each second would write each second: two dumps are at least PAUSE_NS apart. The events of what
 * happened in between are in the next one.
 *
 * No lock: `record_wanted` is atomic, the rest belongs to the watchdog's thread.
 */
#include "core/recovery/keep_record.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/observation/observation_dump.h"
#include "core/recovery/care.h"
#include "core/recovery/watchdog.h"

#define PAUSE_NS UINT64_C(10000000000)

void gyre_record_want(gyre_runtime *runtime)
{
    __atomic_store_n(&runtime->watchdog->record_wanted, true, __ATOMIC_RELEASE);
}

void gyre_record_look(gyre_runtime *runtime, gyre_kernel *kernel)
{
    struct gyre_kernel_watch *const watch = &kernel->care->watch;
    const uint64_t lost_ns = gyre_kernel_lost_ns(kernel);
    if (lost_ns != watch->lost_seen_ns)
        gyre_record_want(runtime);
    watch->lost_seen_ns = lost_ns;
}

bool gyre_record_is_due(const gyre_runtime *runtime)
{
    const struct gyre_watchdog *const watchdog = runtime->watchdog;
    return __atomic_load_n(&watchdog->record_wanted, __ATOMIC_ACQUIRE) &&
           (!watchdog->record_ns || gyre_clock_ns() - watchdog->record_ns >= PAUSE_NS);
}

void gyre_record_keep(gyre_runtime *runtime)
{
    struct gyre_watchdog *const watchdog = runtime->watchdog;
    struct gyre_observation *const observation = gyre_runtime_observation(runtime);
    const unsigned keep =
        (unsigned)gyre_config_int(runtime->config, GYRE_SECTION_OBSERVE, NULL, "dumps_keep");
    char path[GYRE_OBSERVATION_PATH_MAX];
    __atomic_store_n(&watchdog->record_wanted, false, __ATOMIC_RELAXED);
    if (!keep || !gyre_observation_every_ns(observation))
        return;
    watchdog->record_ns = gyre_clock_ns();
    const char *folder = gyre_config_text(runtime->config, GYRE_SECTION_OBSERVE, NULL, "dumps");
    if (!folder[0])
        folder = gyre_config_text(runtime->config, GYRE_SECTION_OBSERVE, NULL, "folder");
    if (gyre_observation_dump(observation, folder, keep, path) == GYRE_OK) {
        gyre_runtime_log(
            runtime, GYRE_LOG_WARNING,
            "what the process did until now is kept in '%s': gyre stat --events 100 --file shows it", path);
    } else {
        gyre_runtime_log(runtime, GYRE_LOG_WARNING, "%s", gyre_error_text());
        gyre_error_clear();
    }
}
