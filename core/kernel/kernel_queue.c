/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a queue of a kernel from its configuration and descriptor, shows it to the device, and closes it.
 *
 * Locks: kernel->lock while the queue table changes, not while a queue is made or freed. A new command to the device announces
 * a change of the table. A queue that left the table is freed only after every block obeyed that command.
 */
#include "core/kernel/keyed.h"
#include "core/kernel/kernel_queue.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/control.h"
#include "core/kernel/keeper.h"
#include "core/kernel/observed.h"
#include "core/kernel/protocol.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/record.h"
#include "core/kernel/sections.h"
#include "core/kernel/span_memory.h"
#include "core/kernel/turn.h"
#include "core/plan/queue_plan.h"
#include "core/queue/convert.h"
#include "core/queue/end.h"
#include "core/queue/label.h"
#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/set.h"
#include "core/queue/side.h"
#include "core/stages/make.h"

static struct gyre_kernel_face own_face(const gyre_kernel *kernel)
{
    return (struct gyre_kernel_face){.record = kernel->record, .types = kernel->types};
}

static struct gyre_queue_options choose_options(const gyre_kernel *kernel,
                                                const struct gyre_kernel_face *face,
                                                const gyre_queue_desc *desc, const char *name)
{
    const struct gyre_config *config = kernel->runtime->config;
    struct gyre_queue_options options = {
        .name = desc->name ? desc->name : "",
        .capacity = desc->capacity,
        .request_size = (uint32_t)face->record->request->size,
        .reply_size = (uint32_t)face->record->reply->size,
        .policy =
            desc->policy ? desc->policy : (gyre_full_policy)gyre_queue_plan_word(config, name, "policy"),
        .idle = desc->idle ? desc->idle : (gyre_idle_strategy)gyre_queue_plan_word(config, name, "idle"),
        .spin_turns = (uint32_t)gyre_kernel_queue_setting(kernel, name, "spin_turns"),
        .first_sequence = desc->first_sequence
                              ? desc->first_sequence
                              : (uint64_t)gyre_kernel_queue_setting(kernel, name, "first_sequence"),
        .many_threads = gyre_kernel_queue_setting(kernel, name, "threads") == 0,
        .device_wakes = !kernel->polled && gyre_dispatch_device_info(kernel->dispatch)->can_wake != 0,
        .device_returns = gyre_dispatch_isolated(kernel->dispatch),
        .device_lies = gyre_dispatch_isolated(kernel->dispatch),
        .device_parks = gyre_control_idle(kernel) == GYRE_IDLE_PARK,
        .timed = gyre_kernel_setting(kernel, "timing") != 0,
        .timed_every = (uint32_t)gyre_kernel_setting(kernel, "timing_every"),
        .wire = kernel->migrates ? 0 : (uint32_t)gyre_kernel_queue_setting(kernel, name, "wire"),
        .control = kernel->control,
    };
    /* with drop_oldest a sender receives the requests that it drops,
     * and the thread that replaces a worker closes and opens sends */
    if (options.policy == GYRE_FULL_DROP_OLDEST || options.device_returns)
        options.many_threads = true;
    return options;
}

static gyre_status check_queue(const gyre_kernel *kernel, const struct gyre_queue_site *site,
                               const gyre_queue_desc *desc, const char *section,
                               struct gyre_queue_options *options)
{
    gyre_status status = gyre_queue_plan_check_choices(desc->policy, desc->idle);
    if (status != GYRE_OK)
        return gyre_error_add(status, "a queue of kernel '%s'", kernel->name);
    if (desc->first_sequence > INT64_MAX) /* as in the configuration */
        return gyre_error_set(
            GYRE_INVALID, "a queue of kernel '%s': first_sequence: expected 0 to %" PRId64 ", found %" PRIu64,
            kernel->name, INT64_MAX, desc->first_sequence);
    if (desc->name && strlen(desc->name) >= GYRE_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "the queue's name '%s' is longer than %d characters", desc->name,
                              GYRE_NAME_MAX - 1);
    if (desc->name && !gyre_text_is_plain(desc->name))
        return gyre_error_set(GYRE_INVALID,
                              "the name of a queue of kernel '%s': expected UTF-8 without control characters",
                              kernel->name);
    return gyre_queue_choose_types(kernel->runtime->config, site, desc, section, options);
}

static void mark_entries(const gyre_queue *list, bool *taken)
{
    for (const gyre_queue *queue = list; queue; queue = gyre_view_of(queue)->next)
        if (gyre_view_of(queue)->table_entry < GYRE_QUEUES_MAX)
            taken[gyre_view_of(queue)->table_entry] = true;
}

/*
 * Finds a free entry of the queue table; GYRE_QUEUES_MAX: none is free. Every queue of the kernel has an entry, also a queue
 * that is hidden from the device. A queue that is being closed keeps its entry: a block that reads the table for an earlier
 * command may have read one word of the entry, and would combine it with a word of another queue (tests/models/table.pml).
 */
static uint32_t free_entry(const gyre_kernel *kernel)
{
    bool taken[GYRE_QUEUES_MAX] = {false};
    uint32_t entry = 0;
    mark_entries(kernel->queues.first, taken);
    mark_entries(kernel->queues.closing, taken);
    mark_entries(kernel->queues.left, taken);
    while (entry < GYRE_QUEUES_MAX && taken[entry])
        entry++;
    return entry;
}

/* Whether entries have what the slots of queues have: seals, stamps, clients in other programs. */
static bool entries_are_whole(const gyre_kernel *kernel)
{
    return gyre_dispatch_device_info(kernel->dispatch)->knows_links & GYRE_LINKING_FOREIGN;
}

/* Takes back what only the kernel itself could do for a queue that enters a pipeline: messages back to back, express lines. */
static void plan_entry(const gyre_kernel *kernel, bool passes_on, struct gyre_queue_options *options)
{
    options->passed_on |= passes_on;
    options->bridged_requests = options->bridged_replies = false;
    options->express = options->express_replies = false;
    options->timed = options->timed && entries_are_whole(kernel);
}

static gyre_status plan_ring(const gyre_kernel *kernel, const struct gyre_kernel_face *face,
                             const gyre_queue_desc *desc, const char *section, bool lent,
                             struct gyre_queue_options *options)
{
    *options = choose_options(kernel, face, desc, section);
    options->lent = lent;
    const struct gyre_queue_site site = {.kernel = kernel->name,
                                         .record = face->record,
                                         .device = kernel->dispatch,
                                         .blocks = kernel->blocks,
                                         .migrates = kernel->migrates};
    gyre_queue_plan_capacity(kernel->runtime->config, kernel->dispatch, section, options);
    gyre_status status = check_queue(kernel, &site, desc, section, options);
    if (status == GYRE_OK)
        status = gyre_queue_plan_choose(kernel->runtime->config, section, options);
    if (status == GYRE_OK)
        status = gyre_queue_plan_layout(kernel->runtime->config, &site, section, options);
    if (face->enters_pipeline)
        plan_entry(kernel, face->passes_on, options);
    if (status == GYRE_OK)
        return status;
    gyre_queue_growth_finish(&options->request_growth);
    gyre_queue_growth_finish(&options->reply_growth);
    return status;
}

gyre_status gyre_kernel_plan_ring(const gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  bool lent, struct gyre_queue_options *options)
{
    const struct gyre_kernel_face face = own_face(kernel);
    return plan_ring(kernel, &face, desc, section, lent, options);
}

/* Makes the planned queue with the types of its caller. Takes over the memory in `options`, even after a failure. */
static gyre_status create_typed(struct gyre_kernel_types *types, struct gyre_queue_options *options,
                                gyre_queue **out)
{
    struct gyre_kernel_types *own = NULL;
    gyre_status status =
        gyre_kernel_types_create_grown(types, &options->request_growth, &options->reply_growth, &own);
    if (status == GYRE_OK)
        status = gyre_queue_create(options, out);
    if (status == GYRE_OK) {
        gyre_kernel_types_name(own ? own : types, *out);
        gyre_view_for(*out)->own_types = own;
        return status;
    }
    gyre_kernel_types_destroy(own);
    gyre_queue_growth_finish(&options->request_growth);
    gyre_queue_growth_finish(&options->reply_growth);
    return status;
}

static void destroy_typed(gyre_queue *queue)
{
    struct gyre_kernel_types *const own = gyre_view_of(queue)->own_types;
    gyre_queue_destroy(queue);
    gyre_kernel_types_destroy(own);
}

/* Makes a queue. `lent`: receives the options, for the other program that uses the queue; NULL: this program uses it. */
static gyre_status make_queue(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                              const gyre_queue_desc *desc, const char *section,
                              struct gyre_queue_options *lent, gyre_queue **out)
{
    uint64_t address = 0;
    gyre_queue_memory *memory = NULL;
    struct gyre_queue_options options;
    /* looked at once: in a move it changes, and whoever makes the queue then makes another one (try_queue) */
    struct gyre_dispatch *const device = __atomic_load_n(&kernel->dispatch, __ATOMIC_ACQUIRE);
    *out = NULL;
    gyre_status status = plan_ring(kernel, face, desc, section, lent != NULL, &options);
    if (status != GYRE_OK)
        return status;
    options.trusted = lent && lent->trusted;
    options.times_told = lent && options.timed;
    status = gyre_queue_plan_spans(kernel->runtime->config, kernel->name, section, &options);
    if (status == GYRE_OK)
        status = gyre_keyed_plan_queue(kernel, section, &options);
    if (status != GYRE_OK) {
        gyre_queue_growth_finish(&options.request_growth);
        gyre_queue_growth_finish(&options.reply_growth);
        return status;
    }
    status = create_typed(face->types, &options, out);
    if (status != GYRE_OK)
        return status;
    const struct gyre_region *const memory_of = &gyre_ring_of(*out)->region;
    gyre_queue_memory_desc region = {.size = sizeof region,
                                     .address = memory_of->address,
                                     .region_size = memory_of->size,
                                     .descriptor = memory_of->descriptor};
    status = gyre_dispatch_queue_alloc(device, &region, &memory, &address);
    if (status != GYRE_OK) {
        destroy_typed(*out);
        *out = NULL;
        return status;
    }
    gyre_view_for(*out)->kernel = kernel;
    gyre_view_for(*out)->request = face->record->request;
    gyre_view_for(*out)->reply = face->record->reply;
    gyre_view_for(*out)->device = device;
    gyre_view_for(*out)->device_memory = memory;
    gyre_view_for(*out)->device_address = address;
    if (gyre_keyed_has_ticks(kernel))
        gyre_queue_keep_sent(*out);
    if (lent)
        *lent = options;
    status = gyre_span_memory_create(kernel, section, *out);
    if (status == GYRE_OK)
        return GYRE_OK;
    gyre_kernel_free_queue(kernel, *out);
    *out = NULL;
    return status;
}

gyre_status gyre_kernel_make_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                   gyre_queue **out)
{
    const struct gyre_kernel_face face = own_face(kernel);
    return make_queue(kernel, &face, desc, section, NULL, out);
}

void gyre_kernel_free_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    struct gyre_durable *const durable = gyre_view_of(queue)->durable;
    gyre_kernel_unobserve_queue(kernel, queue);
    gyre_buffer *const span_memory = gyre_view_of(queue)->span_memory;
    gyre_keeper_queue_end(
        kernel, durable); /* first: requests that are left stay in the journal, and are not completed */
    gyre_dispatch_queue_release(gyre_view_of(queue)->device, gyre_view_of(queue)->device_memory);
    destroy_typed(queue);
    gyre_keeper_queue_free(kernel, durable);
    gyre_span_memory_destroy(span_memory);
}

/* Under the lock: puts the queue into the table, if its name is new and an entry is free. */
static gyre_status enter_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    uint32_t entry = free_entry(kernel);
    for (const gyre_queue *other = kernel->queues.first; gyre_queue_name(queue)[0] && other;
         other = gyre_view_of(other)->next)
        if (!strcmp(gyre_queue_name(other), gyre_queue_name(queue)))
            return gyre_error_set(GYRE_INVALID, "kernel '%s' has a queue '%s' already; choose another name",
                                  kernel->name, gyre_queue_name(queue));
    gyre_kernel_state state = gyre_kernel_get_state(kernel);
    bool launched = kernel->order.epoch != 0; /* the first queue is there before the kernel runs */
    char why[64];
    if (launched && state == GYRE_KERNEL_LOST)
        return gyre_error_set(GYRE_LOST, "kernel '%s' is lost%s; launch it again before opening a queue",
                              kernel->name, gyre_kernel_why_lost(kernel, why, sizeof why));
    if (launched && state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE)
        return gyre_error_set(GYRE_CLOSED, "kernel '%s' is %s; relaunch it before opening a queue",
                              kernel->name, gyre_kernel_state_word(state));
    if (entry == GYRE_QUEUES_MAX)
        return gyre_error_set(GYRE_EXHAUSTED, "kernel '%s' has %d queues, which is the most", kernel->name,
                              GYRE_QUEUES_MAX);
    gyre_view_for(queue)->next = kernel->queues.first;
    kernel->queues.first = queue;
    gyre_view_for(queue)->table_entry = entry;
    /* now, because a new worker may have it at another address since it was made, and a journal may have put
     * requests into it */
    gyre_kernel_write_entry(kernel, queue);
    return GYRE_OK;
}

/* Makes a queue that goes on where its journal ended, and is not in the kernel's list yet. */
static gyre_status make_ring(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                             const gyre_queue_desc *desc, const char *section,
                             struct gyre_queue_options *lent, struct gyre_durable **durable, gyre_queue **out)
{
    gyre_queue_desc given = *desc;
    const bool may_be_kept = !lent && (face->kept || !face->enters_pipeline);
    gyre_status status =
        may_be_kept ? gyre_keeper_queue_open(kernel, face, &given, section, durable) : GYRE_OK;
    if (status == GYRE_OK)
        status = make_queue(kernel, face, &given, section, lent, out);
    if (status == GYRE_OK && !lent && !face->enters_pipeline) {
        status = gyre_kernel_record_queue(kernel, section, *out);
        if (status != GYRE_OK)
            gyre_kernel_free_queue(kernel, *out);
    }
    if (status != GYRE_OK) {
        gyre_keeper_queue_end(kernel, *durable);
        gyre_keeper_queue_free(kernel, *durable);
    }
    return status;
}

static void remove_from(gyre_queue **list, const gyre_queue *queue)
{
    while (*list != queue)
        list = &gyre_view_for(*list)->next;
    *list = gyre_view_of(queue)->next;
}

static void push_to(gyre_queue **list, gyre_queue *queue)
{
    gyre_view_for(queue)->next = *list;
    *list = queue;
}

/* Under the lock: takes the queues that no handler uses any more off the list of those left. */
static gyre_queue *take_let_go(gyre_kernel *kernel)
{
    gyre_queue *taken = NULL;
    for (gyre_queue *queue = kernel->queues.left, *next; queue; queue = next) {
        next = gyre_view_of(queue)->next;
        if (!gyre_view_of(queue)->let_go || !gyre_control_obeyed(kernel, gyre_view_of(queue)->let_go))
            continue;
        remove_from(&kernel->queues.left, queue);
        push_to(&taken, queue);
    }
    return taken;
}

static bool is_left(const gyre_kernel *kernel)
{
    const gyre_kernel_state state = gyre_kernel_get_state(kernel);
    if (state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE)
        return false;
    for (const gyre_queue *queue = kernel->queues.left; queue; queue = gyre_view_of(queue)->next)
        if (gyre_view_of(queue)->let_go)
            return true;
    return false;
}

static void free_list(gyre_kernel *kernel, gyre_queue **list)
{
    while (*list) {
        gyre_queue *queue = *list;
        *list = gyre_view_of(queue)->next;
        gyre_kernel_free_queue(kernel, queue);
    }
}

bool gyre_kernel_free_let_go(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_queue *taken = take_let_go(kernel);
    const bool more = is_left(kernel);
    kernel->turn.inside += taken != NULL; /* the kernel is not freed meanwhile */
    pthread_mutex_unlock(&kernel->lock);
    if (!taken)
        return more;
    free_list(kernel, &taken);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return more;
}

/* Makes a queue and lists it. *changed: the kernel was swapped or moved meanwhile, and the queue, made for what it was, is not there. */
static gyre_status try_queue(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                             const gyre_queue_desc *desc, const char *section,
                             struct gyre_queue_options *lent, bool *changed, gyre_queue **out)
{
    gyre_queue *queue = NULL;
    struct gyre_durable *durable = NULL;
    *changed = false;
    const uint64_t changes = __atomic_load_n(&kernel->changes, __ATOMIC_ACQUIRE);
    gyre_status status = make_ring(kernel, face, desc, section, lent, &durable, &queue);
    if (status != GYRE_OK) { /* perhaps because it is of two bodies */
        *changed = __atomic_load_n(&kernel->changes, __ATOMIC_ACQUIRE) != changes;
        return status;
    }
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel);
    *changed = kernel->changes != changes;
    gyre_view_for(queue)->of_pipeline = gyre_view_for(queue)->unfindable = face->enters_pipeline;
    status = gyre_keeper_queue_equip(kernel, queue, durable);
    if (status == GYRE_OK && *changed)
        status = gyre_error_set(GYRE_AGAIN, "kernel '%s' was changed meanwhile", kernel->name);
    bool running = kernel->resident != NULL;
    if (status == GYRE_OK)
        status = enter_queue(kernel, queue);
    if (status == GYRE_OK && running) {
        gyre_keeper_running(kernel);
        gyre_control_order(kernel, gyre_control_verb(kernel));
    }
    pthread_mutex_unlock(&kernel->lock);
    if (status != GYRE_OK)
        gyre_kernel_free_queue(kernel, queue);
    else
        *out = queue;
    return status;
}

static gyre_status add_queue(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                             const gyre_queue_desc *desc, const char *section,
                             struct gyre_queue_options *lent, gyre_queue **out)
{
    const struct gyre_queue_options given = lent ? *lent : (struct gyre_queue_options){0};
    gyre_status status;
    bool changed;
    *out = NULL;
    gyre_kernel_free_let_go(kernel);
    do {
        if (lent)
            *lent = given;
        status = try_queue(kernel, face, desc, section, lent, &changed, out);
    } while (changed);
    return status;
}

gyre_status gyre_kernel_add_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out)
{
    return gyre_kernel_add_ring(kernel, desc, desc->name ? desc->name : "", out);
}

gyre_status gyre_kernel_add_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                 gyre_queue **out)
{
    const struct gyre_kernel_face face = own_face(kernel);
    return add_queue(kernel, &face, desc, section, NULL, out);
}

/* CONFIG when the section asks for what a queue that enters a pipeline cannot have. */
static gyre_status check_entry(const gyre_kernel *kernel, const struct gyre_kernel_face *face,
                               const char *section)
{
    static const char *const refused[] = {"durability", "wire", "seal"};
    const size_t first = face->kept || face->repeats ? 1 : 0;
    if (gyre_config_text(kernel->runtime->config, GYRE_SECTION_QUEUE, section, "record")[0])
        return gyre_config_blame(
            kernel->runtime->config, GYRE_SECTION_QUEUE, section, "record",
            gyre_error_set(GYRE_CONFIG,
                           "queue '%s' enters a pipeline, and such a queue is not recorded: leave "
                           "record out",
                           section));
    const size_t count = entries_are_whole(kernel) ? 2 : 3;
    const struct gyre_config *config = kernel->runtime->config;
    for (size_t i = first; i < count; i++)
        if (gyre_config_int(config, GYRE_SECTION_QUEUE, section, refused[i]) != 0)
            return gyre_config_blame(
                config, GYRE_SECTION_QUEUE, section, refused[i],
                gyre_error_set(GYRE_CONFIG,
                               "queue '%s' enters a pipeline, and such a queue cannot have %s: leave it out",
                               section, refused[i]));
    if (gyre_config_int(config, GYRE_SECTION_QUEUE, section, "layout") == GYRE_LAYOUT_BRIDGED)
        return gyre_config_blame(
            config, GYRE_SECTION_QUEUE, section, "layout",
            gyre_error_set(
                GYRE_CONFIG,
                "queue '%s' enters a pipeline, and its messages lie in slots: leave out layout = bridged",
                section));
    return GYRE_OK;
}

gyre_status gyre_kernel_add_entry(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                                  const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *lent, gyre_queue **out)
{
    *out = NULL;
    if (lent && !entries_are_whole(kernel))
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "pipelines of backend '%s' take no other programs: their entries are for the "
                              "program that opened them",
                              gyre_dispatch_backend(kernel->dispatch));
    const gyre_status status = check_entry(kernel, face, section);
    return status == GYRE_OK ? add_queue(kernel, face, desc, section, lent, out) : status;
}

gyre_status gyre_kernel_lend_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *options, gyre_queue **out)
{
    if (!options->trusted && gyre_dispatch_device_info(kernel->dispatch)->knows_foreign != 1)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "kernel '%s' takes no other programs: its backend '%s' handles their messages where they can still write "
            "them; update the plugin to backend ABI 2.4, or set gyre.trusted = true for clients that are believed",
            kernel->name, gyre_dispatch_backend(kernel->dispatch));
    const struct gyre_kernel_face face = own_face(kernel);
    return add_queue(kernel, &face, desc, section, options, out);
}

/* Takes the queue off the list. No other queue gets its table entry until every block obeyed. */
static void unlink_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    remove_from(&kernel->queues.first, queue);
    gyre_kernel_unobserve_queue(kernel, queue);
    push_to(&kernel->queues.closing, queue);
    __atomic_store_n(&kernel->control->queues[gyre_view_of(queue)->table_entry].address, 0, __ATOMIC_RELAXED);
    if (queue == kernel->queues.main)
        __atomic_store_n(&kernel->queues.main, NULL, __ATOMIC_RELAXED);
}

/* Under the lock: waits until no block uses the queue. False when a handler does not return and may still use it. */
static bool await_let_go(gyre_kernel *kernel)
{
    if (!kernel->resident)
        return true;
    gyre_control_order(kernel, gyre_control_verb(kernel));
    return gyre_control_came_back(kernel, GYRE_YIELD_TO_NOTHING) != GYRE_TIMEOUT;
}

/* Leaves the queue to a handler that has not returned: gyre_kernel_free_let_go frees it once that has. */
static void abandon_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "%s; the memory of %s stays until the handler returns",
                     gyre_error_text(), gyre_queue_label(queue, label, sizeof label));
    gyre_view_for(queue)->let_go = gyre_control_last(kernel);
    gyre_queue_leave_sets(queue);
    gyre_queue_abandon(queue);
    push_to(&kernel->queues.left, queue);
}

void gyre_kernel_leave_queue(gyre_queue *queue)
{
    gyre_kernel *kernel = gyre_view_of(queue)->kernel;
    gyre_queue_leave_sets(queue);
    gyre_queue_abandon(queue);
    gyre_keeper_queue_end(kernel,
                          gyre_view_of(queue)->durable); /* no checkpoint will be taken for it any more */
    pthread_mutex_lock(&kernel->lock);
    remove_from(&kernel->queues.first, queue);
    gyre_kernel_unobserve_queue(kernel, queue);
    push_to(&kernel->queues.left, queue); /* no thread completes its requests there: a block may do so yet */
    pthread_mutex_unlock(&kernel->lock);
}

/*
 * Hides the queue of a kernel with checkpoints from the device, and waits until a checkpoint covers the queue's handled
 * requests. Call before the queue leaves the list.
 */
static void settle_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside++;
    gyre_kernel_await_turn(kernel);
    gyre_view_for(queue)->withdrawn = true;
    __atomic_store_n(&kernel->control->queues[gyre_view_of(queue)->table_entry].address, 0, __ATOMIC_RELAXED);
    await_let_go(kernel);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    gyre_keeper_queue_settle(kernel, queue);
}

void gyre_kernel_close_queue(gyre_queue *queue)
{
    gyre_kernel *kernel = gyre_view_of(queue)->kernel;
    gyre_queue_close_sends(queue);
    gyre_kernel_free_let_go(kernel);
    if (kernel->checkpoints)
        settle_queue(kernel, queue);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside++;
    while (kernel->turn.starting) /* a starting device reads the table, and obeys no command yet */
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    unlink_queue(kernel, queue);
    bool free_now = await_let_go(kernel);
    remove_from(&kernel->queues.closing, queue);
    if (!free_now)
        abandon_queue(kernel, queue);
    pthread_mutex_unlock(&kernel->lock);
    if (free_now)
        gyre_kernel_free_queue(kernel, queue);
    pthread_mutex_lock(&kernel->lock);
    kernel->turn.inside--;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}

/* Sets and logs the error of a gyre_queue_close that is refused, because that call returns no status. */
static void refuse_to_close(const gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    gyre_error_set(GYRE_INVALID, "gyre_queue_close: %s of kernel '%s' %s",
                   gyre_queue_label(queue, label, sizeof label), gyre_view_of(queue)->kernel->name,
                   gyre_view_of(queue)->of_shards
                       ? "is a ring of shards, which use it on: gyre_shards_close closes all their rings"
                       : "enters a pipeline, which uses it on: gyre_pipeline_close closes all its queues");
    gyre_runtime_log(gyre_view_of(queue)->kernel->runtime, GYRE_LOG_ERROR, "%s", gyre_error_text());
}

void gyre_queue_close(gyre_queue *queue)
{
    if (queue && gyre_foreign_of(queue)->detach)
        gyre_foreign_of(queue)->detach(queue);
    else if (!queue || gyre_view_of(queue)->kernel->runtime->foreign)
        return;
    else if (gyre_view_of(queue)->of_shards || gyre_view_of(queue)->of_pipeline)
        refuse_to_close(queue);
    else
        gyre_kernel_close_queue(queue);
}

void gyre_kernel_free_queues(gyre_kernel *kernel)
{
    if (kernel->shards.free)
        kernel->shards.free(kernel);
    free_list(kernel, &kernel->queues.first);
    free_list(kernel, &kernel->queues.left);
}

void gyre_kernel_abandon_queues(gyre_kernel *kernel)
{
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        gyre_queue_leave_sets(queue);
        gyre_queue_abandon(queue);
    }
}

void gyre_kernel_rewind_queues(gyre_kernel *kernel)
{
    for (gyre_queue *queue = kernel->queues.left; queue; queue = gyre_view_of(queue)->next)
        gyre_view_for(queue)->table_entry = GYRE_QUEUES_MAX; /* the handler that did not return is gone */
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        const uint64_t next = gyre_queue_rewind(queue);
        gyre_queue_resume_bytes(queue);
        gyre_view_for(queue)->gate = UINT64_MAX;
        gyre_view_for(queue)->closed = false;
        gyre_view_for(queue)->suspect_crashes = gyre_view_for(queue)->alone_crashes = 0;
        gyre_view_for(queue)->table_first = next;
        kernel->control->queues[gyre_view_of(queue)->table_entry].first = next;
        kernel->control->queues[gyre_view_of(queue)->table_entry].serial = ++kernel->queues.serial;
        gyre_ring_of(queue)->shared->claim.next =
            next; /* a line that the device writes; no device runs now */
        gyre_keeper_queue_rewind(kernel, queue);
        gyre_queue_reopen(queue);
    }
}

gyre_status gyre_queue_open(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out)
{
    gyre_queue_desc given = {.size = sizeof given};
    if (!kernel || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_queue_open", {"kernel", kernel}, {"out", out}, GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_status status = gyre_runtime_check_own(kernel->runtime, "gyre_queue_open");
    if (status == GYRE_OK && given.name)
        status = gyre_sections_look(kernel->runtime, GYRE_SECTION_QUEUE, given.name, kernel->build);
    return status == GYRE_OK ? gyre_kernel_add_queue(kernel, &given, out) : status;
}

gyre_queue *gyre_kernel_queue(gyre_kernel *kernel)
{
    return kernel ? __atomic_load_n(&kernel->queues.main, __ATOMIC_RELAXED) : NULL;
}

gyre_queue *gyre_queue_find(gyre_kernel *kernel, const char *name)
{
    gyre_queue *queue = NULL;
    if (!kernel || !name)
        return NULL;
    pthread_mutex_lock(&kernel->lock);
    for (queue = kernel->queues.first;
         queue && (gyre_view_of(queue)->unfindable || strcmp(gyre_queue_name(queue), name) != 0);)
        queue = gyre_view_of(queue)->next;
    pthread_mutex_unlock(&kernel->lock);
    return queue;
}
