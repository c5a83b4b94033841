/* SPDX-License-Identifier: Apache-2.0 */
/* What a process shows of its kernels to others: its observation file, read as gyre/observe.h describes it. */
#include <dirent.h>
#include <gyre/observe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"
#include "kernels/links.h"

#include <gyre/pipeline.h>

enum { CAPACITY = 4 };

static char folder[64];
static char setting_folder[96];
static unsigned char *bytes; /* the last copy of the file */
static size_t size;

static const char *const *observed_settings(bool enabled)
{
    static const char *settings[6];
    snprintf(folder, sizeof folder, "/tmp/gyre-observed-XXXXXX");
    require(mkdtemp(folder) != NULL);
    snprintf(setting_folder, sizeof setting_folder, "observe.folder=%s", folder);
    settings[0] = setting_folder;
    settings[1] = "observe.every_ms=10";
    settings[2] = enabled ? "observe.enabled=true" : "observe.enabled=false";
    settings[3] = "queue.default.capacity=4";
    settings[4] = "queue.default.policy=reject";
    return settings;
}

/* Writes the path of the only file in the folder. False: there is none. */
static bool find_file(char path[512])
{
    bool found = false;
    DIR *files = opendir(folder);
    require(files != NULL);
    for (const struct dirent *entry; (entry = readdir(files));) {
        if (entry->d_name[0] == '.')
            continue;
        require(!found && strstr(entry->d_name, ".obs"));
        snprintf(path, 512, "%s/%s", folder, entry->d_name);
        found = true;
    }
    closedir(files);
    return found;
}

static void copy_file(void)
{
    char path[512];
    require(find_file(path));
    FILE *file = fopen(path, "rb");
    require(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = (size_t)ftell(file);
    rewind(file);
    free(bytes);
    bytes = malloc(size);
    require(bytes != NULL && fread(bytes, 1, size, file) == size);
    fclose(file);
}

static const gyre_observe_part *part_of(uint32_t kind)
{
    const gyre_observe_head *head = (const gyre_observe_head *)(const void *)bytes;
    require(head->magic == GYRE_OBSERVE_MAGIC && head->version == GYRE_OBSERVE_VERSION);
    for (uint32_t i = 0; i < head->part_count; i++)
        if (head->parts[i].kind == kind)
            return &head->parts[i];
    return NULL;
}

/* The record of a kind and name in a new copy, and its number; NULL: there is none, or it is being written. */
static const gyre_observe_record *find_record(uint32_t kind, const char *name, uint32_t *number)
{
    copy_file();
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_RECORDS);
    for (uint32_t i = 1; i < part->count; i++) {
        const gyre_observe_record *record = (const void *)(bytes + part->offset + i * part->stride);
        *number = i;
        if (record->kind == kind && record->generation == record->again && strcmp(record->name, name) == 0)
            return record;
    }
    return NULL;
}

/* A value of the record of that kind and name, in a new copy; UINT64_MAX: it is not there. */
static uint64_t value_of(uint32_t kind, const char *name, uint32_t which)
{
    uint32_t number;
    uint64_t value;
    if (!find_record(kind, name, &number))
        return UINT64_MAX;
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_VALUES);
    memcpy(&value, bytes + part->offset + number * part->stride + which * sizeof value, sizeof value);
    return value;
}

/* Waits until a value is there. */
static void await_value(uint32_t kind, const char *name, uint32_t which, uint64_t value)
{
    const uint64_t until = soon();
    while (value_of(kind, name, which) != value) {
        require(gyre_in_ms(0) < until);
        sleep_ms(2);
    }
}

static bool has_event(uint32_t kind, const char *text)
{
    copy_file();
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_EVENTS);
    for (uint32_t i = 0; i < part->count; i++) {
        const gyre_observe_event *event = (const void *)(bytes + part->offset + i * part->stride);
        if (event->number && event->kind == kind && strstr(event->text, text))
            return true;
    }
    return false;
}

static void counts_are_seen_from_outside(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, observed_settings(true));
    char path[512];
    uint32_t number;
    require(!find_file(path)); /* before a kernel is launched there is nothing to see */
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const char *const name = "words_of_1";
    for (uint64_t i = 0; i < 100; i++)
        require(call_word(queue, i) == 3 * i);
    await_value(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_RECEIVED, 100);
    await_value(GYRE_OBSERVE_KERNEL, name, GYRE_OBSERVE_KERNEL_HANDLED, 100);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_SENT) == 100);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_CAPACITY) == CAPACITY);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_UNANSWERED) == 0);
    require(value_of(GYRE_OBSERVE_KERNEL, name, GYRE_OBSERVE_KERNEL_HEALTH) == GYRE_HEALTH_IDLE);
    const gyre_observe_record *record = find_record(GYRE_OBSERVE_KERNEL, name, &number);
    require(record && record->state == GYRE_KERNEL_ACTIVE &&
            strcmp(record->detail, "words_1 -> words_1") == 0);
    require(has_event(GYRE_OBSERVE_STATE, "kernel 'words_of_1' is active"));
    gyre_kernel_release(kernel);
    require(!find_record(GYRE_OBSERVE_KERNEL, name, &number));
    require(!find_record(GYRE_OBSERVE_QUEUE, name, &number));
    require(has_event(GYRE_OBSERVE_CLOSED, "words_of_1"));
    gyre_close(runtime);
    require(!find_file(path));
    require(rmdir(folder) == 0);
}

static void a_full_queue_is_seen_from_outside(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, observed_settings(true));
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const char *const name = "words_of_1";
    const words_1 request = {{5}};
    uint64_t got;
    must(gyre_kernel_deactivate(kernel, soon()));
    require(has_event(GYRE_OBSERVE_STATE, "kernel 'words_of_1' is inactive"));
    for (uint64_t i = 0; i < CAPACITY; i++)
        send_word(queue, i, NULL);
    for (int i = 0; i < 3; i++)
        require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    await_value(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_REJECTED, 3);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_UNANSWERED) == CAPACITY);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_FULL_NS) > 0);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_REFUSED_FIRST_NS) > 0);
    require(value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_LOST_FIRST_NS) == 0);
    require(has_event(GYRE_OBSERVE_REFUSED, "more refused"));
    const uint64_t until = soon();
    while (value_of(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_STILL_NS) ==
           0) /* the second look that finds it */
        require(gyre_in_ms(0) < until);
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < CAPACITY; i++)
        require(receive_word(queue, &got).index == i && got == 3 * i);
    await_value(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_FULL_NS, 0);
    await_value(GYRE_OBSERVE_QUEUE, name, GYRE_OBSERVE_QUEUE_STILL_NS, 0);
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

/* The histogram of the record of that kind and name, in the last copy. False: there is none. */
static bool find_histogram(uint32_t kind, const char *name, enum gyre_observe_time time,
                           gyre_observe_histogram *out)
{
    uint32_t record;
    if (!find_record(kind, name, &record))
        return false;
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_HISTOGRAMS);
    for (uint32_t i = 0; i < part->count; i++) {
        memcpy(out, bytes + part->offset + i * part->stride, sizeof *out);
        if (out->record == record && out->time == (uint32_t)time)
            return true;
    }
    return false;
}

static uint64_t messages_of(const gyre_observe_histogram *histogram)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        sum += histogram->buckets[i];
    return sum;
}

/* How many messages a histogram of the queue has. */
static uint64_t count_timed(const char *name, uint32_t time)
{
    gyre_observe_histogram times;
    return find_histogram(GYRE_OBSERVE_QUEUE, name, (enum gyre_observe_time)time, &times)
               ? messages_of(&times)
               : 0;
}

/* How many different messages of the only queue were noted, each with its times in order. */
static uint64_t count_spans(void)
{
    uint64_t noted = 0, last = 0;
    copy_file();
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_TRACE);
    for (uint64_t i = 0; i < part->count; i++) {
        const gyre_observe_span *span = (const void *)(bytes + part->offset + i * part->stride);
        if (span->kind != GYRE_OBSERVE_SPAN_MESSAGE || span->mark & 1)
            continue;
        require(span->mark == span->again && span->mark == 2 * (i + 1));
        require(span->sent_ns && span->sent_ns < span->started_ns && span->started_ns < span->finished_ns &&
                span->finished_ns < span->received_ns);
        require(span->sent_ns > last); /* a call begins when the one before it has returned */
        last = span->received_ns;
        require(span->index < 64 && !(noted >> span->index & 1));
        noted |= UINT64_C(1) << span->index;
    }
    return (uint64_t)__builtin_popcountll(noted);
}

static void times_are_seen_from_outside(struct conformance *test)
{
    const char *const *settings = observed_settings(true);
    const char *timed[] = {
        settings[0], settings[1], settings[2], "kernel.default.timing=true", "observe.trace=always", NULL};
    gyre_runtime *runtime = open_with(test, timed);
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    for (uint64_t i = 0; i < 50; i++)
        require(call_word(gyre_kernel_queue(kernel), i) == 3 * i);
    const uint64_t until = soon(), counted = stats_of(gyre_kernel_queue(kernel)).timed;
    require(counted == 50);
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        while (count_timed("words_of_1", time) != counted) {
            require(gyre_in_ms(0) < until);
            sleep_ms(2);
        }
    require(count_spans() == counted);
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

static void await_messages(uint32_t kind, const char *name, uint64_t messages, gyre_observe_histogram *out)
{
    const uint64_t until = soon();
    while (!find_histogram(kind, name, GYRE_OBSERVE_HANDLED, out) || messages_of(out) != messages) {
        require(gyre_in_ms(0) < until);
        sleep_ms(5);
    }
}

/* Where the client and the handlers have one clock, the kernel and its queue tell the same; else the client corrects the times. */
static void handlers_times_are_seen_from_outside(struct conformance *test)
{
    enum { EVERY = 4, MESSAGES = 40 * EVERY };
    const char *const *settings = observed_settings(true);
    const char *timed[] = {
        settings[0], settings[1], settings[2], "kernel.default.timing=true", "kernel.default.timing_every=4",
        NULL};
    gyre_observe_histogram of_kernel, of_queue;
    const char *const name = "words_of_1";
    bool one_clock = true;
    gyre_runtime *runtime = open_with(test, timed);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", name));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        gyre_timing timing = {.size = sizeof timing};
        require(call_word(queue, i) == 3 * i);
        if (i % EVERY == 0)
            must(gyre_timing_get(queue, i, &timing));
        one_clock = one_clock && timing.error_ns == 0;
    }
    await_messages(GYRE_OBSERVE_QUEUE, name, MESSAGES / EVERY, &of_queue);
    await_messages(GYRE_OBSERVE_KERNEL, name, MESSAGES / EVERY, &of_kernel);
    require(value_of(GYRE_OBSERVE_KERNEL, name, GYRE_OBSERVE_KERNEL_TIMED_EVERY) == EVERY);
    if (one_clock) {
        require(of_kernel.sum_ns == of_queue.sum_ns);
        require(memcmp(of_kernel.buckets, of_queue.buckets, sizeof of_kernel.buckets) == 0);
    }
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

static void nobody_sees_what_is_not_to_be_seen(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, observed_settings(false));
    char path[512];
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    require(call_word(gyre_kernel_queue(kernel), 2) == 6);
    require(!find_file(path));
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

/* ---- links ---- */

static void await_looks(uint64_t more)
{
    copy_file();
    const uint64_t goal = ((const gyre_observe_head *)(const void *)bytes)->looks + more, until = soon();
    while (((const gyre_observe_head *)(const void *)bytes)->looks < goal) {
        require(gyre_in_ms(0) < until);
        sleep_ms(2);
        copy_file();
    }
}

static uint32_t count_links(const char *name)
{
    uint32_t count = 0;
    copy_file();
    const gyre_observe_part *part = part_of(GYRE_OBSERVE_RECORDS);
    for (uint32_t i = 1; i < part->count; i++) {
        const gyre_observe_record *record = (const void *)(bytes + part->offset + i * part->stride);
        count += record->kind == GYRE_OBSERVE_LINK && strcmp(record->name, name) == 0;
    }
    return count;
}

/* A link in memory of a device is shown with the first copy that the device made of it, however busy the device is. */
static void await_link(const char *name)
{
    const uint64_t until = soon();
    while (count_links(name) == 0) {
        require(gyre_in_ms(0) < until);
        sleep_ms(2);
    }
}

/* first.out -> one, as "handed"; `two` is no stage yet. */
static gyre_pipeline *open_chain(gyre_runtime *runtime)
{
    static const char *const first = "first", *const one = "one";
    static const char *const kernels[][2] = {{"pass", "first"}, {"finish", "one"}, {"finish", "two"}};
    const gyre_link_desc link = {.size = sizeof link, .name = "handed", .from = "first.out", .to = "one"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "chain",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &one,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        gyre_launch_desc launched = {.size = sizeof launched,
                                     .source = kernel_path("links.gyre.c"),
                                     .kernel = kernels[i][0],
                                     .name = kernels[i][1],
                                     .stage = 1};
        gyre_kernel *kernel = NULL;
        must(gyre_launch(runtime, &launched, &kernel));
    }
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/* The number of a kernel's record. */
static uint32_t await_kernel(const char *name)
{
    const uint64_t until = soon();
    uint32_t number;
    while (!find_record(GYRE_OBSERVE_KERNEL, name, &number)) {
        require(gyre_in_ms(0) < until);
        sleep_ms(2);
    }
    return number;
}

static void await_times(enum gyre_observe_kind kind, const char *name, enum gyre_observe_time time,
                        uint64_t messages, gyre_observe_histogram *out)
{
    const uint64_t until = soon();
    while (!find_histogram(kind, name, time, out) || messages_of(out) != messages) {
        require(gyre_in_ms(0) < until);
        sleep_ms(5);
    }
}

/*
 * The flows were timed from end to end, as many as were to be, and the messages of the link, where it is not a GPU that moves them.
 */
static void judge_link_times(const struct conformance *test, uint64_t messages)
{
    gyre_observe_histogram waited = {0}, flows;
    await_times(GYRE_OBSERVE_PIPELINE, "chain", GYRE_OBSERVE_ROUND_TRIP, messages, &flows);
    if (strcmp(test->backend, "cpu") == 0 || strcmp(test->backend, "isolated") == 0 ||
        strcmp(test->backend, "opencl") == 0) {
        await_times(GYRE_OBSERVE_LINK, "handed", GYRE_OBSERVE_WAITED, messages, &waited);
        require(waited.sum_ns > 0);
    }
    require(flows.sum_ns > waited.sum_ns);
}

/* Messages that came by a link are timed as well, which have no client here: by the stage that handles them. */
static void handlers_behind_links_are_timed(struct conformance *test)
{
    enum { EVERY = 2, MESSAGES = 24 };
    const char *const *settings = observed_settings(true);
    const char *timed[] = {
        settings[0], settings[1], settings[2], "kernel.default.timing=true", "kernel.default.timing_every=2",
        NULL};
    gyre_observe_histogram of_first, of_one;
    gyre_runtime *runtime = open_with(test, timed);
    gyre_pipeline *pipeline = open_chain(runtime);
    for (uint64_t i = 0; i < MESSAGES; i++) {
        job reply;
        must(gyre_call(gyre_pipeline_queue(pipeline), &(job){.number = i}, sizeof(job), &reply, sizeof reply,
                       NULL, soon()));
    }
    await_messages(GYRE_OBSERVE_KERNEL, "first", MESSAGES / EVERY, &of_first);
    await_messages(GYRE_OBSERVE_KERNEL, "one", MESSAGES / EVERY, &of_one);
    require(of_first.sum_ns > 0 && of_one.sum_ns > 0);
    judge_link_times(test, MESSAGES / EVERY);
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

/* Links are seen wherever they lie: what they carried, what waits in them, and whose they are. */
static void links_are_seen_from_outside(struct conformance *test)
{
    enum { MESSAGES = 5 };
    const char *const name = "handed";
    gyre_runtime *runtime = open_with(test, observed_settings(true));
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_kernel *one = gyre_kernel_find(runtime, "one");
    gyre_link_info info = {.size = sizeof info};
    for (uint64_t i = 0; i < MESSAGES; i++) {
        job reply;
        must(gyre_call(gyre_pipeline_queue(pipeline), &(job){.number = i}, sizeof(job), &reply, sizeof reply,
                       NULL, soon()));
    }
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_SENT, MESSAGES);
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_WAITING, 0);
    must(gyre_kernel_deactivate(one, soon()));
    must(gyre_send(gyre_pipeline_queue(pipeline), &(job){.number = 1}, sizeof(job), NULL, soon()));
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_WAITING, 1);
    must(gyre_pipeline_link(pipeline, 0, &info));
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_CAPACITY, info.capacity);
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_SENT, MESSAGES + 1);
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_FROM, await_kernel("first"));
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_TO, await_kernel("one"));
    must(gyre_kernel_activate(one, soon()));
    await_value(GYRE_OBSERVE_LINK, name, GYRE_OBSERVE_LINK_WAITING, 0);
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

/* A link that leads elsewhere is shown once, also while its former target keeps messages. */
static void a_link_that_leads_elsewhere_is_shown_once(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, observed_settings(true));
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_kernel *one = gyre_kernel_find(runtime, "one");
    gyre_link_info info = {.size = sizeof info};
    await_value(GYRE_OBSERVE_LINK, "handed", GYRE_OBSERVE_LINK_SENT, 0);
    must(gyre_kernel_deactivate(one, soon()));
    must(gyre_send(gyre_pipeline_queue(pipeline), &(job){.number = 1}, sizeof(job), NULL, soon()));
    while (info.waiting == 0) {
        must(gyre_pipeline_link(pipeline, 0, &info));
        sleep_ms(1);
    }
    require(gyre_link_retarget(pipeline, "handed", "two", gyre_in_ms(1)) == GYRE_TIMEOUT);
    await_looks(3);
    await_link("handed");
    require(count_links("handed") == 1);
    must(gyre_kernel_activate(one, soon()));
    gyre_close(runtime);
    require(rmdir(folder) == 0);
}

const struct conformance_case observation_cases[] = {
    {"counts_are_seen_from_outside", counts_are_seen_from_outside},
    {"a_full_queue_is_seen_from_outside", a_full_queue_is_seen_from_outside},
    {"times_are_seen_from_outside", times_are_seen_from_outside},
    {"handlers_times_are_seen_from_outside", handlers_times_are_seen_from_outside},
    {"handlers_behind_links_are_timed", handlers_behind_links_are_timed},
    {"links_are_seen_from_outside", links_are_seen_from_outside},
    {"a_link_that_leads_elsewhere_is_shown_once", a_link_that_leads_elsewhere_is_shown_once},
    {"nobody_sees_what_is_not_to_be_seen", nobody_sees_what_is_not_to_be_seen},
    {NULL, NULL},
};
