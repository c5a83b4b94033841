/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the settings of a kernel and of the queues mean for its compiler: the same for a launch and for files
 * that are compiled ahead. No state.
 */
#include <stdio.h>
#include <string.h>

#include "core/runtime/queue_plan.h"
#include "core/runtime/tools.h"

void gyre_kernel_guess_name(const char *source, char *name, size_t size)
{
    if (!source)
        source = "";
    const char *base = strrchr(source, '/');
    const char *colon = strrchr(source, ':');
    base = base ? base + 1 : source;
    if (colon && colon > base)
        snprintf(name, size, "%s", colon + 1);
    else
        snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}

uint32_t gyre_kernel_wire(const struct gyre_config *config, const char *name)
{
    return (uint32_t)gyre_config_int(config, GYRE_SECTION_QUEUE, name, "wire");
}

void gyre_kernel_options(const struct gyre_config *config, const char *name, char *text, size_t size)
{
    const struct gyre_header_plan plan = gyre_queue_plan_all(config);
    static const char *const wires[] = {"", " -DGYRE_WIRED=1", " -DGYRE_WIRED=2"};
    bool timed = plan.times || gyre_config_int(config, GYRE_SECTION_KERNEL, name, "timing");
    snprintf(text, size, "%s%s%s%s%s", gyre_config_text(config, GYRE_SECTION_KERNEL, name, "options"),
             timed ? " -DGYRE_TIMED=1" : "", plan.size ? " -DGYRE_HEADED=1" : "",
             plan.sealed ? " -DGYRE_SEALED=1" : "", wires[gyre_kernel_wire(config, name)]);
}
