/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the table of services for plugins (host.h). Takes no lock, has no state except the caller's. */
#include "core/loader/host.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/loader/loader.h"
#include "gyre/waiting.h"

static void host_log(void *context, gyre_log_level level, const char *text)
{
    const struct gyre_host_services *services = context;
    if (services->log && text)
        services->log(services->log_context, (int)level, text);
}

void gyre_host_init(struct gyre_host_services *services, gyre_log_function *log, void *log_context)
{
    *services = (struct gyre_host_services){
        .table = {.size = sizeof(gyre_host),
                  .context = services,
                  .error = gyre_error_set,
                  .log = host_log,
                  .run_program = gyre_process_run_program,
                  .library_open = gyre_library_open,
                  .library_symbol = gyre_library_symbol,
                  .library_close = gyre_library_close,
                  .nearest = gyre_text_nearest,
                  .now_ns = gyre_clock_ns},
        .log = log,
        .log_context = log_context,
    };
}
