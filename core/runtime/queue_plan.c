/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sections of queues to what their messages carry and what is done with them. No state.
 */
#include "core/runtime/queue_plan.h"

#include "core/base/error.h"

static uint64_t number(const struct gyre_config *config, const char *name, const char *key)
{
    return (uint64_t)gyre_config_int(config, GYRE_SECTION_QUEUE, name, key);
}

/* A behaviour works by a field of the header, which is then there. */
static void need(struct gyre_header_plan *plan, const char *field)
{
    const uint32_t size = gyre_header_needed(field);
    plan->size = plan->size > size ? plan->size : size;
}

gyre_status gyre_queue_plan_header(const struct gyre_config *config, const char *name,
                                   struct gyre_header_plan *plan)
{
    gyre_status status =
        gyre_header_plan_read(gyre_config_text(config, GYRE_SECTION_QUEUE, name, "header"), plan);
    if (number(config, name, "ttl_ms"))
        need(plan, "deadline");
    if (number(config, name, "dedup") || number(config, name, "levels") > 1)
        need(plan, "priority"); /* and with it the id */
    plan->sealed = number(config, name, "seal") != 0;
    if (plan->sealed)
        need(plan, "id");
    return status == GYRE_OK
               ? status
               : gyre_error_add(status, "in the section [queue.%s]", name && name[0] ? name : "default");
}

struct gyre_header_plan gyre_queue_plan_all(const struct gyre_config *config)
{
    struct gyre_header_plan all = {0}, one;
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_QUEUE, &count);
    for (size_t i = 0; i <= count; i++) {
        /* one that is wrong is told when its queue is opened */
        if (gyre_queue_plan_header(config, i < count ? names[i] : NULL, &one) != GYRE_OK)
            continue;
        all.size = one.size > all.size ? one.size : all.size;
        all.times = all.times || one.times;
        all.sealed = all.sealed || one.sealed;
    }
    return all;
}

/* The oldest message of a queue with levels may be in front of its ring, where no drop reaches. */
static gyre_status check(const struct gyre_queue_options *options)
{
    if (options->levels <= 1 || options->policy != GYRE_FULL_DROP_OLDEST)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_CONFIG,
        "queue '%s' has %u levels, and its policy is drop_oldest, which is not for such queues; "
        "set policy = block, reject or drop_newest in its section",
        options->name, options->levels);
}

gyre_status gyre_queue_plan_choose(const struct gyre_config *config, const char *section,
                                   struct gyre_queue_options *options)
{
    struct gyre_header_plan plan;
    gyre_status status = gyre_queue_plan_header(config, section, &plan);
    options->header_size = plan.size;
    options->sealed = plan.sealed;
    options->timed = options->timed || plan.times;
    options->ttl_ns = gyre_config_ns(config, GYRE_SECTION_QUEUE, section, "ttl_ms");
    options->dead_letters = number(config, section, "dead_letters");
    options->dedup = (uint32_t)number(config, section, "dedup");
    options->levels = (uint32_t)number(config, section, "levels");
    options->age_ns = gyre_config_ns(config, GYRE_SECTION_QUEUE, section, "age_ms");
    options->window = number(config, section, "window");
    options->any_order = number(config, section, "order") != 0;
    return status == GYRE_OK ? check(options) : status;
}
