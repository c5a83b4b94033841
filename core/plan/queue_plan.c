/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the sections [queue.NAME] of the configuration into the options of queues (queue_plan.h). Checks that the settings
 * of a section fit each other, the kernel and the device. No state.
 */
#include "core/plan/queue_plan.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/plan/shape.h"
#include "core/queue/header_words.h"
#include "core/ring/express.h"
#include "core/ring/layout.h"
#include "core/ring/region.h"
#include "core/ring/ring_options.h"
#include "core/ring/slot.h"
#include "gyre/backend.h"

static uint64_t queue_setting(const struct gyre_config *config, const char *name, const char *key)
{
    return (uint64_t)gyre_config_int(config, GYRE_SECTION_QUEUE, name, key);
}

/* The name of a section in sentences. A queue without a section of its own (NULL or "") uses `default`. */
static const char *shown_section(const char *section)
{
    return section && section[0] ? section : "default";
}

uint32_t gyre_queue_plan_word(const struct gyre_config *config, const char *section, const char *key)
{
    return (uint32_t)queue_setting(config, section, key) + 1;
}

gyre_status gyre_queue_plan_check_choices(gyre_full_policy policy, gyre_idle_strategy idle)
{
    if ((unsigned)policy > GYRE_FULL_DROP_NEWEST)
        return gyre_error_set(GYRE_INVALID,
                              "policy: expected 0 (as configured), 1 (block), 2 (reject), 3 (drop_oldest) or "
                              "4 (drop_newest) of gyre_full_policy, found %d",
                              (int)policy);
    if ((unsigned)idle > GYRE_WAIT_PARK)
        return gyre_error_set(
            GYRE_INVALID,
            "idle: expected 0 (as configured), 1 (spin), 2 (yield), 3 (adaptive) or 4 (park) "
            "of gyre_idle_strategy, found %d",
            (int)idle);
    return GYRE_OK;
}

static gyre_full_policy policy_of(const struct gyre_config *config, const char *section)
{
    return (gyre_full_policy)gyre_queue_plan_word(config, section, "policy");
}

/* Makes the header large enough to hold `field`, because a setting of the queue needs that field. */
static void need_field(struct gyre_header_plan *plan, const char *field)
{
    const uint32_t size = gyre_header_needed(field);
    plan->size = plan->size > size ? plan->size : size;
}

/*
 * Plans the header of messages of the queue `name` (NULL: a queue without a section of its own): the fields of the setting
 * `header`, and the fields that its other settings need. CONFIG with the section.
 */
static gyre_status plan_header(const struct gyre_config *config, const char *name,
                               struct gyre_header_plan *plan)
{
    gyre_status status =
        gyre_header_plan_read(gyre_config_text(config, GYRE_SECTION_QUEUE, name, "header"), plan);
    if (queue_setting(config, name, "ttl_ms"))
        need_field(plan, "deadline");
    if (queue_setting(config, name, "dedup") || queue_setting(config, name, "levels") > 1)
        need_field(plan, "priority"); /* and with it the id */
    plan->sealed = queue_setting(config, name, "seal") != 0;
    if (plan->sealed)
        need_field(plan, "id");
    if (status == GYRE_OK)
        return status;
    gyre_error_add(status, "in the section [queue.%s]", shown_section(name));
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, name, "header", status);
}

struct gyre_header_plan gyre_queue_plan_all(const struct gyre_config *config)
{
    struct gyre_header_plan all = {0}, one;
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_QUEUE, &count);
    for (size_t i = 0; i <= count; i++) {
        /* a wrong section is reported when its queue is opened */
        if (plan_header(config, i < count ? names[i] : NULL, &one) != GYRE_OK)
            continue;
        all.size = one.size > all.size ? one.size : all.size;
        all.times = all.times || one.times;
        all.sealed = all.sealed || one.sealed;
    }
    return all;
}

/* Refuses levels of priority beside drop_oldest or a journal. A message of a queue with levels may still wait in front of
 * the ring, and neither the drop nor the journal reaches it there. */
static gyre_status check_levels(const struct gyre_config *config, const char *section,
                                const struct gyre_queue_options *options)
{
    gyre_status status = GYRE_OK;
    if (options->levels <= 1)
        return GYRE_OK;
    if (options->policy == GYRE_FULL_DROP_OLDEST && policy_of(config, section) != GYRE_FULL_DROP_OLDEST)
        return gyre_error_set(
            GYRE_INVALID,
            "policy: drop_oldest was asked for, which is not for queues with levels, and section '%s' has %u; "
            "ask for 0 (as configured), 1 (block), 2 (reject) or 4 (drop_newest)",
            shown_section(section), options->levels);
    if (options->policy == GYRE_FULL_DROP_OLDEST)
        status = gyre_error_set(
            GYRE_CONFIG,
            "queue '%s' has %u levels, and its policy is drop_oldest, which is not for such queues; "
            "set policy = block, reject or drop_newest in its section",
            options->name, options->levels);
    else if (queue_setting(config, section, "durability"))
        status = gyre_error_set(
            GYRE_CONFIG,
            "queue '%s' has %u levels and durability = journal, which do not go together: messages that wait in front "
            "of the ring would be in no journal; set levels = 1, or durability = none, in its section",
            options->name, options->levels);
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "levels", status);
}

/* Refuses layout = bridged for messages with a checksum or a journal, which lie in their slots. */
static gyre_status check_layout(const struct gyre_config *config, const char *section,
                                const struct gyre_queue_options *options)
{
    const bool journal = queue_setting(config, section, "durability") && !options->lent;
    if (queue_setting(config, section, "layout") != GYRE_LAYOUT_BRIDGED || !(options->sealed || journal))
        return GYRE_OK;
    gyre_status status = gyre_error_set(
        GYRE_CONFIG, "queue '%s': %s and layout = bridged do not go together; use layout = auto or slots",
        shown_section(section), options->sealed ? "seal = crc32c" : "durability = journal");
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "layout", status);
}

gyre_status gyre_queue_plan_choose(const struct gyre_config *config, const char *section,
                                   struct gyre_queue_options *options)
{
    struct gyre_header_plan plan;
    gyre_status status = plan_header(config, section, &plan);
    options->header_size = plan.size;
    options->sealed = plan.sealed;
    options->timed = options->timed || plan.times;
    options->timed_every = plan.times ? 1 : options->timed_every;
    options->ttl_ns = gyre_config_ns(config, GYRE_SECTION_QUEUE, section, "ttl_ms");
    options->dead_letters = queue_setting(config, section, "dead_letters");
    options->dedup = (uint32_t)queue_setting(config, section, "dedup");
    options->levels = (uint32_t)queue_setting(config, section, "levels");
    options->age_ns = gyre_config_ns(config, GYRE_SECTION_QUEUE, section, "age_ms");
    options->window = queue_setting(config, section, "window");
    options->any_order = queue_setting(config, section, "order") != 0;
    if (status == GYRE_OK)
        status = check_levels(config, section, options);
    return status == GYRE_OK ? check_layout(config, section, options) : status;
}

gyre_status gyre_queue_plan_journal(const struct gyre_config *config, const char *section,
                                    const gyre_kernel_record *record, const char *kernel)
{
    gyre_status status = GYRE_OK;
    if (!queue_setting(config, section, "durability"))
        return GYRE_OK;
    if (record && gyre_record_keeps_something(record) &&
        !gyre_config_bool(config, GYRE_SECTION_KERNEL, kernel, "checkpoints"))
        status = gyre_error_set(GYRE_CONFIG,
                                "queue '%s' has durability = journal, and the handler of kernel '%s' keeps "
                                "something between messages: set checkpoints = true for the kernel",
                                shown_section(section), kernel);
    else if (!gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "journal_dir")[0])
        status = gyre_error_set(GYRE_CONFIG,
                                "queue '%s' has durability = journal: "
                                "say in journal_dir of [gyre] in which folder journals are",
                                shown_section(section));
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "durability", status);
}

/* Checks a section as far as that is possible without a kernel and a device. */
static gyre_status check_section(const struct gyre_config *config, const char *section)
{
    struct gyre_queue_options options = {.name = shown_section(section),
                                         .policy = policy_of(config, section)};
    gyre_status status = gyre_queue_plan_choose(config, section, &options);
    return status == GYRE_OK ? gyre_queue_plan_journal(config, section, NULL, NULL) : status;
}

gyre_status gyre_queue_sections_check(const struct gyre_config *config)
{
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_QUEUE, &count);
    gyre_status status = check_section(config, NULL);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = check_section(config, names[i]);
    return status;
}

/* ---- how many slots a queue has ---- */

void gyre_queue_plan_capacity(const struct gyre_config *config, const struct gyre_dispatch *device,
                              const char *section, struct gyre_queue_options *options)
{
    const uint32_t request = gyre_slot_stride(options->request_size),
                   reply = gyre_slot_stride(options->reply_size);
    if (options->capacity == 0)
        options->capacity = queue_setting(config, section, "capacity");
    if (options->capacity == 0)
        options->capacity = gyre_slots_default(gyre_dispatch_device_info(device)->queue_bytes_default,
                                               request > reply ? request : reply);
}

/* ---- where messages lie ---- */

enum { LARGE_SLOT = 1024 }; /* bytes; larger messages are stored back to back */

static bool tail_is_large(uint32_t least, uint32_t size)
{
    return least != 0 && size > LARGE_SLOT;
}

/*
 * How the device stores messages back to back. GYRE_BRIDGING_NONE for a worker process that cannot skip requests: after a
 * worker's death the next worker answers again the requests that were answered out of turn, and nobody would ever free
 * the bytes of the first answers.
 */
static uint32_t bridging_of(const struct gyre_dispatch *device)
{
    const gyre_device_info *info = gyre_dispatch_device_info(device);
    return gyre_dispatch_isolated(device) && !info->can_skip ? GYRE_BRIDGING_NONE : info->bridging;
}

/* Whether the kernel can be a stage, on a device that reads only slots of the queues of such kernels. */
static bool reads_slots(const struct gyre_queue_site *site)
{
    return gyre_dispatch_device_info(site->device)->knows_links & GYRE_LINKING_SLOTS &&
           !site->record->is_island;
}

static const char *where_unbridged(const struct gyre_queue_site *site, bool logged)
{
    if (logged)
        return "for kernels with checkpoints";
    if (reads_slots(site))
        return "for kernels that can be stages of a pipeline on this backend";
    return gyre_dispatch_device_info(site->device)->bridging == GYRE_BRIDGING_NONE
               ? "on this backend"
               : "on this backend with isolation = process";
}

static gyre_status refuse_bridged(const struct gyre_config *config, const struct gyre_queue_site *site,
                                  const char *section, bool logged)
{
    gyre_status status =
        gyre_error_set(logged ? GYRE_CONFIG : GYRE_UNIMPLEMENTED,
                       "queue '%s' of kernel '%s': layout = bridged is not there %s; use auto or slots",
                       section, site->kernel, where_unbridged(site, logged));
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "layout", status);
}

static gyre_status check_seal(const struct gyre_config *config, const struct gyre_queue_site *site,
                              const char *section)
{
    if (gyre_dispatch_device_info(site->device)->can_seal)
        return GYRE_OK;
    gyre_status status = gyre_error_set(GYRE_UNIMPLEMENTED,
                                        "queue '%s' of kernel '%s': this backend checks no checksums; "
                                        "set seal = none, or use the backend cpu",
                                        section, site->kernel);
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "seal", status);
}

/* Whether a request may be handled once more after a failure: the kernel has checkpoints, or the queue has a journal. */
static bool is_logged(const struct gyre_config *config, const char *kernel, const char *section)
{
    return gyre_config_int(config, GYRE_SECTION_KERNEL, kernel, "checkpoints") != 0 ||
           queue_setting(config, section, "durability") != 0;
}

/* Decides where messages lie. Back to back helps only messages with tails, because all others have one length. A message
 * that fits a cache line lies in its slot in either layout. */
static gyre_status plan_layout(const struct gyre_config *config, const struct gyre_queue_site *site,
                               const char *section, struct gyre_queue_options *options)
{
    const uint64_t layout = queue_setting(config, section, "layout");
    const uint32_t bridging = bridging_of(site->device);
    const bool none = bridging == GYRE_BRIDGING_NONE || reads_slots(site);
    const bool logged = is_logged(config, site->kernel, section);
    options->passed_on = logged; /* a relay passes replies of such queues to other programs */
    if (options->sealed)
        return check_seal(config, site, section);
    if (layout == GYRE_LAYOUT_SLOTS || options->lent) /* lent: another program has the ring */
        return GYRE_OK;
    if (layout == GYRE_LAYOUT_BRIDGED && (logged || none))
        return refuse_bridged(config, site, section, logged);
    if (layout == GYRE_LAYOUT_AUTO && (logged || none ||
                                       (!tail_is_large(options->request_least, options->request_size) &&
                                        !tail_is_large(options->reply_least, options->reply_size))))
        return GYRE_OK;
    options->bridged_requests = options->request_least && options->request_size > GYRE_SLOT_SMALL_PAYLOAD;
    options->bridged_replies = options->reply_least && options->reply_size > GYRE_SLOT_SMALL_PAYLOAD;
    options->bytes = queue_setting(config, section, "bytes");
    options->tracks = bridging == GYRE_BRIDGING_BLOCK ? site->blocks : 1;
    return GYRE_OK;
}

static bool names_buffers(const gyre_type *type)
{
    bool found = strcmp(type->name, "gyre_handle") == 0;
    for (const gyre_type *const *field = type->field_types; !found && field && *field; field++)
        found = names_buffers(*field);
    return found;
}

/*
 * Decides whether the queue has express lines (a copy of a lone request beside its slot, which the device reads in one
 * journey). A kernel of lanes with small messages needs none: each message already lies in one line with its slot's
 * header. An express reply leaves without a fence, so it does not prove to the receiver that the handler's writes into a
 * buffer have arrived. Therefore a kernel with buffers has no express replies. A recording reads messages in their slots.
 */
static void plan_express(const struct gyre_config *config, const struct gyre_queue_site *site,
                         const char *section, struct gyre_queue_options *options)
{
    const gyre_kernel_record *record = site->record;
    const bool lines = record->form == GYRE_FORM_LANE && options->request_size <= GYRE_SLOT_SMALL_PAYLOAD &&
                       options->reply_size <= GYRE_SLOT_SMALL_PAYLOAD;
    options->express = gyre_dispatch_device_info(site->device)->knows_express && !lines &&
                       !reads_slots(site) && !is_logged(config, site->kernel, section) &&
                       !gyre_config_text(config, GYRE_SECTION_QUEUE, section, "record")[0] &&
                       gyre_express_suits(options);
    options->express_replies = options->express && options->reply_size > GYRE_SLOT_SMALL_PAYLOAD &&
                               options->reply_size <= GYRE_EXPRESS_MOST && !record->buffers[0] &&
                               !names_buffers(record->request);
}

gyre_status gyre_queue_plan_layout(const struct gyre_config *config, const struct gyre_queue_site *site,
                                   const char *section, struct gyre_queue_options *options)
{
    gyre_status status = plan_layout(config, site, section, options);
    if (status == GYRE_OK)
        plan_express(config, site, section, options);
    return status;
}

gyre_status gyre_queue_plan_measure(const gyre_type *type, uint32_t *size, uint32_t *least)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK) {
        *size = (uint32_t)layout->size;
        *least = layout->tail ? (uint32_t)layout->least : 0;
    }
    gyre_layout_destroy(layout);
    return status;
}

/* Why spans of this queue may not travel in device memory; NULL: they may. A request that is handled once more would find
 * other bytes there. */
static const char *hindrance(const struct gyre_config *config, const char *kernel, const char *section,
                             const struct gyre_queue_options *options)
{
    if (options->lent)
        return "requests of other programs";
    if (options->wire)
        return "messages in a wire form";
    if (gyre_config_bool(config, GYRE_SECTION_KERNEL, kernel, "checkpoints"))
        return "a kernel with checkpoints";
    return queue_setting(config, section, "durability") ? "a queue with a journal" : NULL;
}

gyre_status gyre_queue_plan_spans(const struct gyre_config *config, const char *kernel, const char *section,
                                  const struct gyre_queue_options *options)
{
    const char *what = hindrance(config, kernel, section, options);
    if (!what || !options->request_least || !queue_setting(config, section, "span_handles"))
        return GYRE_OK;
    gyre_status status =
        gyre_error_set(GYRE_CONFIG,
                       "queue '%s' of kernel '%s': span_handles is not for %s: set it to 0 in its "
                       "section",
                       shown_section(section), kernel, what);
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "span_handles", status);
}

/* ---- what a queue takes ---- */

static gyre_status plan_wire(const struct gyre_config *config, const gyre_kernel_record *record,
                             struct gyre_queue_options *options)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(record->request, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = gyre_queue_check_wire(config, record->name, options->name, layout, options);
    gyre_layout_destroy(layout);
    return status;
}

/* Plans a queue by the steps of a launch with default arguments, but does not make it. */
static gyre_status plan_queue(const struct gyre_config *config, const struct gyre_dispatch *device,
                              const gyre_kernel_record *record, struct gyre_queue_options *options)
{
    const char *section = options->name;
    const struct gyre_shape_site shape = {
        .config = config, .device = device, .record = record, .name = record->name};
    struct gyre_queue_site site = {.kernel = record->name, .record = record, .device = device};
    uint32_t lanes = 0;
    gyre_status status =
        gyre_queue_plan_measure(record->request, &options->request_size, &options->request_least);
    if (status == GYRE_OK)
        status = gyre_queue_plan_measure(record->reply, &options->reply_size, &options->reply_least);
    if (status == GYRE_OK)
        gyre_queue_plan_capacity(config, device, section, options);
    if (status == GYRE_OK)
        status = gyre_shape_choose(&shape, &lanes, &site.blocks);
    if (status == GYRE_OK)
        status = gyre_queue_plan_journal(config, section, record, record->name);
    if (status == GYRE_OK)
        status = plan_wire(config, record, options);
    if (status == GYRE_OK)
        status = gyre_queue_plan_choose(config, section, options);
    if (status == GYRE_OK)
        status = gyre_queue_plan_layout(config, &site, section, options);
    return status == GYRE_OK ? gyre_queue_plan_spans(config, record->name, section, options) : status;
}

gyre_status gyre_queue_cost_get(const struct gyre_config *config, const struct gyre_dispatch *device,
                                const gyre_kernel_record *record, const char *section,
                                struct gyre_queue_cost *cost)
{
    struct gyre_queue_options options = {
        .name = section,
        .policy = policy_of(config, section),
        .timed = gyre_config_bool(config, GYRE_SECTION_KERNEL, record->name, "timing"),
        .wire = (uint32_t)queue_setting(config, section, "wire")};
    char label[96];
    gyre_status status = plan_queue(config, device, record, &options);
    if (status != GYRE_OK)
        return status;
    gyre_queue_measure(&options, cost);
    snprintf(label, sizeof label, "queue '%s'", section);
    status = gyre_region_check_room(label, cost->memory);
    if (status != GYRE_OK)
        return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "capacity", status);
    if (options.request_least && queue_setting(config, section, "span_handles")) {
        cost->spans = queue_setting(config, section, "span_memory");
        cost->memory += cost->spans;
    }
    return GYRE_OK;
}
