/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching: from a descriptor to a resident kernel. The order is: find the device, build, choose the shape,
 * bind buffers, make state and queues, start. gyre_kernel_free undoes whatever part of it was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/lines.h"
#include "core/base/text.h"
#include "core/runtime/checkpoint.h"
#include "core/runtime/durable.h"
#include "core/runtime/queue_plan.h"

enum { STARTS_MAX = 3 };

/* ---- names and sources ---- */

/* The name under which a kernel is configured before its file was read: given, or as the source says. */
static void guess_name(const gyre_launch_desc *desc, char *name, size_t size)
{
    const char *source = desc->source ? desc->source : "";
    const char *base = strrchr(source, '/');
    const char *colon = strrchr(source, ':');
    base = base ? base + 1 : source;
    if (desc->name)
        snprintf(name, size, "%s", desc->name);
    else if (desc->kernel)
        snprintf(name, size, "%s", desc->kernel);
    else if (colon && colon > base)
        snprintf(name, size, "%s", colon + 1);
    else
        snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}

static const char *kernel_text(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_text(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

static gyre_status name_taken(const gyre_kernel *kernel)
{
    return gyre_error_set(GYRE_INVALID, "a kernel '%s' is launched already; give this one another name",
                          kernel->name);
}

static gyre_status no_source(const gyre_kernel *kernel)
{
    size_t count;
    const char *const *names = gyre_config_names(kernel->runtime->config, GYRE_SECTION_KERNEL, &count);
    const char *nearest = gyre_text_nearest(kernel->name, names, count);
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' has no source: name a file, or set source in the section [kernel.%s]%s%s%s",
        kernel->name, kernel->name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
        nearest ? "'?" : "");
}

/* ---- building ---- */

/* The form of a queue's messages: the number of its word. */
static int64_t wire_of(const struct gyre_config *config, const char *name)
{
    return gyre_config_int(config, GYRE_SECTION_QUEUE, name, "wire");
}

/* The kernel's own compiler options, and what its settings and those of queues add. */
static void choose_compiler_options(const gyre_kernel *kernel, char *text, size_t size)
{
    const struct gyre_header_plan plan = gyre_queue_plan_all(kernel->runtime->config);
    static const char *const wires[] = {"", " -DGYRE_WIRED=1", " -DGYRE_WIRED=2"};
    snprintf(text, size, "%s%s%s%s%s", kernel_text(kernel, "options"),
             gyre_kernel_setting(kernel, "timing") || plan.times ? " -DGYRE_TIMED=1" : "",
             plan.size ? " -DGYRE_HEADED=1" : "", plan.sealed ? " -DGYRE_SEALED=1" : "", wires[kernel->wire]);
}

static gyre_status build_kernel(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    char options[4096];
    struct gyre_pipeline_report *report = calloc(1, sizeof *report);
    const char *source = desc->source ? desc->source : kernel_text(kernel, "source");
    if (!report)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to build a kernel");
    if (!source[0]) {
        free(report);
        return no_source(kernel);
    }
    kernel->wire = (uint32_t)wire_of(kernel->runtime->config, kernel->name);
    choose_compiler_options(kernel, options, sizeof options);
    struct gyre_pipeline_desc pipeline = {.config = kernel->runtime->config,
                                          .device = kernel->dispatch,
                                          .source = source,
                                          .options = options,
                                          .report = report};
    gyre_status status = gyre_pipeline_run(&pipeline, &kernel->build);
    if (report->warning[0])
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "%s", report->warning);
    if (report->messages[0])
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO, "%s", report->messages);
    free(report);
    if (status == GYRE_OK)
        status = gyre_build_kernel(kernel->build, desc->kernel, &kernel->record);
    return status;
}

/* Opens the device and builds as the section of the kernel's present name says. */
static gyre_status build_as_configured(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    const char *backend = desc->backend ? desc->backend : kernel_text(kernel, "backend");
    gyre_status status = gyre_runtime_device(kernel->runtime, backend, desc->device, &kernel->dispatch);
    return status == GYRE_OK ? build_kernel(kernel, desc) : status;
}

/* Whether the sections of two names say the same about how to build. */
static bool built_alike(const gyre_kernel *kernel, const gyre_launch_desc *desc, const char *one,
                        const char *other)
{
    const struct gyre_config *config = kernel->runtime->config;
    const char *key = "backend";
    if (!desc->backend && strcmp(gyre_config_text(config, GYRE_SECTION_KERNEL, one, key),
                                 gyre_config_text(config, GYRE_SECTION_KERNEL, other, key)) != 0)
        return false;
    if (wire_of(config, one) != wire_of(config, other))
        return false;
    key = "options";
    return strcmp(gyre_config_text(config, GYRE_SECTION_KERNEL, one, key),
                  gyre_config_text(config, GYRE_SECTION_KERNEL, other, key)) == 0;
}

/* A file tells the name of its only kernel when it was built; where that name's section says so, it is built
 * again. */
static gyre_status build_by_name(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    char guessed[GYRE_NAME_MAX];
    guess_name(desc, guessed, sizeof guessed);
    memcpy(kernel->name, guessed, sizeof guessed);
    gyre_status status = build_as_configured(kernel, desc);
    if (status != GYRE_OK || desc->name)
        return status;
    snprintf(kernel->name, sizeof kernel->name, "%s", kernel->record->name);
    if (built_alike(kernel, desc, guessed, kernel->name))
        return GYRE_OK;
    gyre_build_release(kernel->build);
    kernel->build = NULL;
    kernel->record = NULL;
    return build_as_configured(kernel, desc);
}

/* ---- the shape ---- */

static uint32_t first_of(uint32_t given, int64_t configured, uint32_t preset)
{
    return given ? given : configured ? (uint32_t)configured : preset;
}

static gyre_status choose_shape(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    const gyre_device_info *device = gyre_dispatch_device_info(kernel->dispatch);
    bool actor = kernel->record->form == GYRE_FORM_ACTOR;
    kernel->lanes =
        first_of(desc->lanes, gyre_kernel_setting(kernel, "lanes"), actor ? 1 : device->lanes_default);
    kernel->blocks =
        first_of(desc->blocks, gyre_kernel_setting(kernel, "blocks"), actor ? 1 : device->blocks_default);
    if (actor && (kernel->lanes != 1 || kernel->blocks != 1))
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is an actor, which has 1 lane and 1 block, found %u lane%s and %u block%s; "
            "leave both out, or declare it as GYRE_KERNEL",
            kernel->name, kernel->lanes, gyre_text_plural(kernel->lanes), kernel->blocks,
            gyre_text_plural(kernel->blocks));
    if (kernel->lanes > device->lanes_max)
        return gyre_error_set(GYRE_INVALID, "kernel '%s': %u lanes, and '%s' allows at most %u in a block",
                              kernel->name, kernel->lanes, device->name, device->lanes_max);
    if (kernel->blocks > device->blocks_max)
        return gyre_error_set(GYRE_INVALID, "kernel '%s': %u blocks, and '%s' allows at most %u",
                              kernel->name, kernel->blocks, device->name, device->blocks_max);
    return GYRE_OK;
}

/* ---- state and buffers ---- */

static gyre_status prepare_state(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    uint64_t size = kernel->record->state->size;
    if (desc->state && desc->state_size != size)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' has a state of %llu bytes (%s), found %zu bytes",
                              kernel->name, (unsigned long long)size, kernel->record->state->name,
                              desc->state_size);
    if (size == 0)
        return GYRE_OK;
    if (desc->state) {
        kernel->initial_state = malloc(size);
        if (!kernel->initial_state)
            return gyre_error_set(GYRE_EXHAUSTED, "no memory for a state of %llu bytes",
                                  (unsigned long long)size);
        memcpy(kernel->initial_state, desc->state, size);
    }
    /* whole lines: where memory is the host's, a handler that writes it must not slow down its neighbours */
    return gyre_dispatch_memory_alloc(kernel->dispatch, gyre_lines_size(size), &kernel->state);
}

static gyre_status write_state(gyre_kernel *kernel)
{
    if (!kernel->state)
        return GYRE_OK;
    if (!kernel->initial_state)
        return gyre_memory_fill_zero(kernel->dispatch, kernel->state, kernel->record->state->size);
    gyre_transfer_desc upload = {.size = sizeof upload,
                                 .kind = GYRE_TRANSFER_UPLOAD,
                                 .memory = kernel->state,
                                 .byte_count = kernel->record->state->size,
                                 .source = kernel->initial_state};
    return gyre_dispatch_transfer(kernel->dispatch, &upload);
}

static const gyre_binding_name *find_binding(const gyre_launch_desc *desc, const char *name)
{
    for (size_t i = 0; i < desc->binding_count; i++)
        if (desc->bindings[i].name && !strcmp(desc->bindings[i].name, name))
            return &desc->bindings[i];
    return NULL;
}

static gyre_status bind_one(gyre_kernel *kernel, const gyre_launch_desc *desc, const gyre_buffer_slot *slot)
{
    const gyre_binding_name *binding = find_binding(desc, slot->name);
    if (!binding || !binding->buffer)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has a buffer '%s' of %s, and nothing is bound to it: bind a buffer under that name",
            kernel->name, slot->name, slot->type->name);
    if (binding->buffer->dispatch != kernel->dispatch)
        return gyre_error_set(GYRE_INVALID, "buffer '%s' lies on another device than kernel '%s'", slot->name,
                              kernel->name);
    if (binding->buffer->size % slot->type->size)
        return gyre_error_set(GYRE_INVALID,
                              "buffer '%s' of kernel '%s' has %llu bytes, which is no multiple of %s (%llu)",
                              slot->name, kernel->name, (unsigned long long)binding->buffer->size,
                              slot->type->name, (unsigned long long)slot->type->size);
    kernel->buffers[kernel->buffer_count++] = binding->buffer;
    return GYRE_OK;
}

/* The names that a kernel declares, as "a, b"; cut where they do not fit. */
static const char *list_buffers(const gyre_buffer_list *list, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "no buffer");
    for (uint32_t i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", list->slots[i].name);
    return text;
}

static gyre_status no_such_buffer(const gyre_kernel *kernel, const gyre_buffer_list *list, const char *name)
{
    char declared[256];
    const char **names = calloc((size_t)list->count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < list->count; i++)
        names[i] = list->slots[i].name;
    const char *nearest = names ? gyre_text_nearest(name, names, list->count) : NULL;
    free(names);
    return gyre_error_set(GYRE_INVALID, "kernel '%s' has no buffer '%s'; it declares %s%s%s%s", kernel->name,
                          name, list_buffers(list, declared, sizeof declared),
                          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Every name that was given is one of the kernel's. */
static gyre_status check_binding_names(const gyre_kernel *kernel, const gyre_launch_desc *desc,
                                       const gyre_buffer_list *list)
{
    for (size_t i = 0; i < desc->binding_count; i++) {
        uint32_t slot = 0;
        const char *name = desc->bindings[i].name ? desc->bindings[i].name : "";
        while (slot < list->count && strcmp(list->slots[slot].name, name) != 0)
            slot++;
        if (slot == list->count)
            return no_such_buffer(kernel, list, name);
    }
    return GYRE_OK;
}

static gyre_status bind_buffers(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_buffer_list list = {0};
    gyre_status status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK)
        status = check_binding_names(kernel, desc, &list);
    kernel->buffers = calloc((size_t)list.count + 1, sizeof(gyre_buffer *));
    if (status == GYRE_OK && !kernel->buffers)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for %u bindings", list.count);
    for (uint32_t i = 0; status == GYRE_OK && i < list.count; i++)
        status = bind_one(kernel, desc, &list.slots[i]);
    gyre_buffer_list_finish(&list);
    return status;
}

void gyre_kernel_hold_buffers(gyre_kernel *kernel, bool hold)
{
    pthread_mutex_lock(&kernel->runtime->lock);
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        kernel->buffers[i]->bound += hold ? 1u : UINT32_MAX; /* adds 1 or takes 1 away */
    pthread_mutex_unlock(&kernel->runtime->lock);
}

/* ---- starting ---- */

static void log_line(void *context, const char *text, int64_t value)
{
    gyre_kernel *kernel = context;
    pthread_mutex_lock(&kernel->log_lock);
    if (!kernel->log_ended) /* else the runtime may be gone */
        gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO, "kernel '%s': %s %lld", kernel->name, text,
                         (long long)value);
    pthread_mutex_unlock(&kernel->log_lock);
}

static void describe_bindings(const gyre_kernel *kernel, const gyre_buffer_list *list,
                              gyre_binding_desc *bindings)
{
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        bindings[i] =
            (gyre_binding_desc){.memory = kernel->buffers[i]->memory,
                                .element_count = kernel->buffers[i]->size / list->slots[i].type->size};
}

gyre_status gyre_kernel_launch_device(gyre_kernel *kernel, bool anew, gyre_resident **out)
{
    gyre_buffer_list list = {0};
    gyre_binding_desc *bindings = calloc((size_t)kernel->buffer_count + 1, sizeof *bindings);
    gyre_status status = anew ? write_state(kernel) : GYRE_OK;
    if (status == GYRE_OK && anew)
        status = gyre_checkpoints_begin(kernel);
    if (status == GYRE_OK && anew)
        status = gyre_durable_begin(kernel);
    if (status == GYRE_OK && !bindings)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for %u bindings", kernel->buffer_count);
    if (status == GYRE_OK)
        status = gyre_buffer_list_init(&list, kernel->record->buffers, kernel->record->buffer_types);
    if (status == GYRE_OK) {
        describe_bindings(kernel, &list, bindings);
        gyre_resident_desc desc = {.size = sizeof desc,
                                   .control = kernel->control,
                                   .control_size = kernel->region.size,
                                   .control_descriptor = kernel->region.descriptor,
                                   .kernel_name = kernel->record->name,
                                   .lanes = kernel->lanes,
                                   .blocks = kernel->blocks,
                                   .state = kernel->state,
                                   .bindings = bindings,
                                   .binding_count = kernel->buffer_count,
                                   .idle = (gyre_idle)gyre_kernel_setting(kernel, "idle"),
                                   .spin_turns = (uint32_t)gyre_kernel_setting(kernel, "spin_turns"),
                                   .kernel_log = log_line,
                                   .kernel_log_context = kernel};
        status = gyre_dispatch_launch(kernel->dispatch, gyre_build_module(kernel->build), &desc, out);
    }
    gyre_buffer_list_finish(&list);
    free(bindings);
    return status;
}

/* An unacknowledged launch is taken back: the control word stops whatever did start. */
static gyre_status await_first_words(gyre_kernel *kernel)
{
    const struct gyre_config *config = kernel->runtime->config;
    uint64_t limit = gyre_config_ns(config, GYRE_SECTION_KERNEL, kernel->name, "launch_timeout_ms");
    gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_STOP, gyre_clock_ns() + limit);
    if (status == GYRE_OK || status == GYRE_CLOSED)
        return status;
    gyre_error_add(status, "kernel '%s' was launched and did not report", kernel->name);
    gyre_error_hold();
    gyre_kernel_end(kernel, GYRE_NO_WAIT, NULL);
    gyre_error_let_go();
    return status;
}

/*
 * Under the lock, which is given up meanwhile. LOST when a worker process died under it, perhaps of another
 * kernel: whoever brings that back leaves kernels that are being started to the thread that starts them.
 */
static gyre_status try_start(gyre_kernel *kernel, gyre_resident **out)
{
    pthread_mutex_unlock(&kernel->lock);
    gyre_status status = gyre_kernel_launch_device(kernel, true, out);
    pthread_mutex_lock(&kernel->lock);
    if (status != GYRE_OK)
        return status;
    status = gyre_replay_start(kernel, *out);
    if (status == GYRE_OK && gyre_dispatch_is_current(kernel->dispatch, *out))
        return GYRE_OK;
    gyre_dispatch_release(kernel->dispatch, *out);
    *out = NULL;
    if (status != GYRE_OK && status != GYRE_LOST)
        return status;
    return gyre_error_set(GYRE_LOST, "the worker process died while kernel '%s' was launched", kernel->name);
}

gyre_status gyre_kernel_start(gyre_kernel *kernel, bool active)
{
    gyre_resident *resident = NULL;
    gyre_control_reset(kernel);
    bool isolated = gyre_dispatch_isolated(kernel->dispatch);
    uint64_t verb = active ? GYRE_VERB_RUN : GYRE_VERB_PAUSE;
    bool held = isolated || kernel->checkpoints; /* what it is to handle is told when it is there */
    gyre_control_order(kernel, held ? GYRE_VERB_PAUSE : verb);
    kernel->starting = true;
    kernel->generation++;
    kernel->paused_to_save = false;
    kernel->earlier_handled = kernel->earlier_failed = 0;
    kernel->restarts = kernel->condemned = kernel->stalls = 0;
    kernel->doomed = false;
    gyre_kernel_hold_buffers(kernel, true);
    gyre_status status = GYRE_LOST;
    for (int tries = 0; tries < STARTS_MAX && status == GYRE_LOST; tries++)
        status = try_start(kernel, &resident);
    kernel->starting = false;
    kernel->resident = resident;
    if (status == GYRE_OK)
        gyre_durable_forget(kernel);
    if (status == GYRE_OK && held) { /* only now it is known at which addresses a worker has the queues */
        gyre_kernel_write_table(kernel, kernel->checkpoints != NULL);
        gyre_control_order(kernel, verb);
    }
    if (status == GYRE_OK)
        gyre_kernel_set_state(kernel, active ? GYRE_KERNEL_ACTIVE : GYRE_KERNEL_INACTIVE);
    else
        gyre_kernel_hold_buffers(kernel, false);
    pthread_cond_broadcast(&kernel->changed);
    return status == GYRE_OK ? await_first_words(kernel) : status;
}

static gyre_status open_main_queue(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_queue_desc queue = {
        .size = sizeof queue, .name = kernel->name, .request = desc->request, .reply = desc->reply};
    return gyre_kernel_add_queue(kernel, &queue, &kernel->main_queue); /* nobody else has the kernel yet */
}

/* Another thread may have launched one of the same name since that was checked. */
static gyre_status list_kernel(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    struct gyre_kernel **link = &runtime->kernels;
    while (*link && strcmp((*link)->name, kernel->name) != 0)
        link = &(*link)->next;
    bool taken = *link != NULL;
    if (!taken)
        *link = kernel;
    pthread_mutex_unlock(&runtime->lock);
    if (!taken)
        gyre_handles_refresh(kernel); /* from here on names reach it by themselves; these it missed */
    return taken ? name_taken(kernel) : GYRE_OK;
}

static gyre_status launch(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_status status = build_by_name(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_kernel_types_create(kernel);
    if (status == GYRE_OK)
        status = gyre_types_of_kernel(kernel);
    if (status == GYRE_OK)
        status = choose_shape(kernel, desc);
    if (status == GYRE_OK)
        status = bind_buffers(kernel, desc);
    if (status == GYRE_OK)
        status = prepare_state(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_control_create(kernel);
    if (status == GYRE_OK)
        status = gyre_checkpoints_create(kernel);
    if (status == GYRE_OK)
        status = open_main_queue(kernel, desc);
    if (status == GYRE_OK)
        status = gyre_watchdog_need(kernel);
    if (status == GYRE_OK)
        status = gyre_supervisor_need(kernel);
    if (status == GYRE_OK)
        status = list_kernel(kernel); /* before the start: who brings back a worker looks there */
    if (status == GYRE_OK) {
        pthread_mutex_lock(&kernel->lock);
        status = gyre_kernel_start(kernel, !desc->start_inactive && gyre_kernel_setting(kernel, "active"));
        pthread_mutex_unlock(&kernel->lock);
    }
    if (status == GYRE_OK)
        gyre_checkpoints_point_out(kernel, desc->source ? desc->source : kernel_text(kernel, "source"));
    return status == GYRE_OK ? gyre_checkpoints_start(kernel) : status;
}

static gyre_status check_launch(const gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    if (!runtime || !desc || !out || desc->size < sizeof desc->size)
        return gyre_error_set(
            GYRE_INVALID,
            "gyre_launch needs a runtime, a descriptor with its size set and a place for the kernel");
    *out = NULL;
    return gyre_runtime_check_own(runtime, "gyre_launch");
}

static gyre_status check_given(const gyre_launch_desc *given)
{
    if ((!given->source && !given->name) || (given->source && !given->source[0]) ||
        (given->name && (!given->name[0] || strlen(given->name) >= GYRE_NAME_MAX)))
        return gyre_error_set(GYRE_INVALID,
                              "gyre_launch needs a source, or the name (1 to %d characters) of a kernel "
                              "whose source is configured",
                              GYRE_NAME_MAX - 1);
    if (given->binding_count > 0 && !given->bindings)
        return gyre_error_set(GYRE_INVALID, "gyre_launch: binding_count is %zu, and bindings is NULL",
                              given->binding_count);
    return GYRE_OK;
}

gyre_status gyre_launch(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out)
{
    gyre_launch_desc given = {.size = sizeof given};
    gyre_status status = check_launch(runtime, desc, out);
    if (status != GYRE_OK)
        return status;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    status = check_given(&given);
    if (status != GYRE_OK)
        return status;
    gyre_kernel *kernel = gyre_kernel_create(runtime);
    if (!kernel)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a kernel");
    status = launch(kernel, &given);
    if (status != GYRE_OK) {
        gyre_kernel_release(kernel);
        return status;
    }
    gyre_kernel_announce(kernel);
    *out = kernel;
    return GYRE_OK;
}
