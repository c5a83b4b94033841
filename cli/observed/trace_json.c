/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans as JSON (trace_json.h). Spans are put into one order: by process, kind, and what another span finds them by. So a search in halves
 * finds the block that handled a message, and who sent what came by a link.
 */
#include "cli/observed/trace_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 65536, NO_BLOCK = BLOCKS_MOST - 1 };

typedef struct writer {
    const trace_set *set;
    FILE *out;
    trace_told *told;
    const trace_span **blocks; /* HANDLED, by process, kernel, block and begin */
    size_t block_count;
    size_t most_bytes;
    bool begun; /* an event was written */
} writer;

static bool is_full(const writer *to)
{
    const long written = to->most_bytes == SIZE_MAX ? 0 : ftell(to->out);
    return written > 0 && (size_t)written >= to->most_bytes;
}

/* ---- order ---- */

static int compare(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

/* What spans of a kind are found by. */
static void keys_of(const gyre_observe_span *span, uint64_t keys[2])
{
    const bool emitted = span->kind == GYRE_OBSERVE_SPAN_EMITTED;
    keys[0] = emitted ? span->ring : span->queue;
    keys[1] = emitted ? span->place : span->index;
}

static int by_key(const void *one, const void *other)
{
    const trace_span *a = one, *b = other;
    uint64_t keys[2], others[2];
    keys_of(&a->span, keys);
    keys_of(&b->span, others);
    int order = compare(a->process, b->process);
    order = order ? order : compare(a->span.kind, b->span.kind);
    order = order ? order : compare(keys[0], others[0]);
    order = order ? order : compare(keys[1], others[1]);
    return order ? order : compare(a->span.started_ns, b->span.started_ns);
}

/* How many spans come before the wanted one; with those that are equal, if `also_equal`. */
static size_t count_before(const trace_set *set, const trace_span *wanted, bool also_equal)
{
    size_t first = 0, end = set->span_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (by_key(&set->spans[middle], wanted) < (int)also_equal)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static bool is_of_kind(const trace_span *span, const trace_span *wanted)
{
    return span->process == wanted->process && span->span.kind == wanted->span.kind;
}

/* The last span of a process and a kind whose keys are not beyond these; NULL: there is none. */
static const trace_span *last_below(const trace_set *set, const trace_span *wanted)
{
    const size_t count = count_before(set, wanted, true);
    return count && is_of_kind(&set->spans[count - 1], wanted) ? &set->spans[count - 1] : NULL;
}

static int by_block(const void *one, const void *other)
{
    const trace_span *a = *(const trace_span *const *)one, *b = *(const trace_span *const *)other;
    int order = compare(a->process, b->process);
    order = order ? order : compare(a->span.record, b->span.record);
    order = order ? order : compare(a->span.block, b->span.block);
    return order ? order : compare(a->span.started_ns, b->span.started_ns);
}

/* The span out of which a message was sent; NULL: it was not taken. */
static const trace_span *sender_of(const writer *to, const trace_span *emitted)
{
    const trace_span *const *found =
        bsearch(&emitted, to->blocks, to->block_count, sizeof(trace_span *), by_block);
    return found ? *found : NULL;
}

/* ---- rows ---- */

static const trace_process *process_of(const writer *to, const trace_span *span)
{
    return &to->set->processes[span->process];
}

/* The number of a row's group: that of a device, unique among all processes. `device`: NULL if it is not known. */
static uint64_t group_of(const trace_process *process, const trace_object *device)
{
    return process->group + (device ? (uint64_t)(device - process->objects) + 1 : 0);
}

/* Where events stand. */
typedef struct row {
    uint64_t group, number;
    const trace_process *process;
    const trace_object *kernel, *device; /* NULL: not known */
    uint32_t block;
} row;

static row row_of(const writer *to, const trace_span *span, const trace_object *kernel, uint32_t block)
{
    const trace_process *process = process_of(to, span);
    const trace_object *device =
        kernel ? trace_object_of(process, GYRE_OBSERVE_DEVICE, kernel->device, span->span.started_ns) : NULL;
    const uint64_t place = kernel ? (uint64_t)(kernel - process->objects) + 1 : 0;
    return (row){.group = group_of(process, device),
                 .number = place * BLOCKS_MOST + block,
                 .process = process,
                 .kernel = kernel,
                 .device = device,
                 .block = block};
}

static const trace_object *kernel_of(const writer *to, const trace_span *span)
{
    return trace_object_of(process_of(to, span), GYRE_OBSERVE_KERNEL, span->span.record,
                           span->span.started_ns);
}

static const char *text_of(const trace_object *object)
{
    return object ? object->text : "\"unknown\"";
}

/* ---- events ---- */

/* Nanoseconds as microseconds, which the format wants, without a loss. */
static void write_time(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

/* Begins an event: what every event has. `name` and `category` are JSON strings. */
static void begin_event(writer *to, const char *phase, const char *category, const char *name, const row *at)
{
    fprintf(to->out, "%s{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":%s,\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
            to->begun ? ",\n" : "\n", phase, category, name, at->group, at->number);
    to->begun = true;
}

static void write_args(const writer *to, const trace_span *span, const trace_object *queue)
{
    const gyre_observe_span *about = &span->span;
    fprintf(to->out, ",\"args\":{\"queue\":%s,\"index\":%" PRIu64, queue ? queue->text : "null",
            about->index);
    if (about->trace[0] || about->trace[1])
        fprintf(to->out, ",\"trace\":\"%016" PRIx64 "%016" PRIx64 "\"", about->trace[0], about->trace[1]);
    if (about->kind == GYRE_OBSERVE_SPAN_HANDLED)
        fprintf(to->out, ",\"block\":%" PRIu32 ",\"links\":%" PRIu32 ",\"failed\":%s", about->block,
                about->count, about->failed ? "true" : "false");
    fputc('}', to->out);
}

/* One side of an asynchronous span of a message. */
static void write_side(writer *to, const char *phase, const char *name, const row *at, const trace_span *span,
                       uint64_t ns)
{
    begin_event(to, phase, "message", name, at);
    fprintf(to->out, ",\"id\":\"%" PRIu32 ".%" PRIx64 ".%" PRIx64 "\"", span->process, span->span.queue,
            span->span.index);
    write_time(to->out, "ts", ns);
    if (phase[0] == 'b')
        write_args(to, span,
                   trace_object_named(process_of(to, span), GYRE_OBSERVE_QUEUE, span->span.queue,
                                      span->span.started_ns));
    fputc('}', to->out);
}

static void write_part(writer *to, const char *name, const row *at, const trace_span *span, uint64_t from,
                       uint64_t to_ns)
{
    write_side(to, "b", name, at, span, from);
    write_side(to, "e", name, at, span, to_ns);
}

/* ---- messages ---- */

/* The first span of a block of the same request; NULL: none was taken. */
static const trace_span *first_handled(const writer *to, const trace_span *message)
{
    trace_span wanted = *message;
    wanted.span.kind = GYRE_OBSERVE_SPAN_HANDLED;
    wanted.span.started_ns = 0;
    const size_t at = count_before(to->set, &wanted, false);
    const trace_span *found = at < to->set->span_count ? &to->set->spans[at] : NULL;
    return found && is_of_kind(found, &wanted) && found->span.queue == message->span.queue &&
                   found->span.index == message->span.index
               ? found
               : NULL;
}

static bool is_in_order(const gyre_observe_span *span)
{
    return span->sent_ns <= span->started_ns && span->started_ns <= span->finished_ns &&
           span->finished_ns <= span->received_ns;
}

static void write_message(writer *to, const trace_span *message)
{
    const gyre_observe_span *span = &message->span;
    const trace_process *process = process_of(to, message);
    const trace_object *queue = trace_object_of(process, GYRE_OBSERVE_QUEUE, span->record, span->sent_ns);
    const trace_object *kernel =
        queue ? trace_object_of(process, GYRE_OBSERVE_KERNEL, queue->parent, span->sent_ns) : NULL;
    const trace_span *handled = first_handled(to, message);
    const row at = row_of(to, message, kernel,
                          handled && handled->span.block < NO_BLOCK ? handled->span.block : NO_BLOCK);
    if (!is_in_order(span)) {
        to->told->refused++;
        return;
    }
    write_side(to, "b", text_of(queue), &at, message, span->sent_ns);
    write_part(to, "\"waited\"", &at, message, span->sent_ns, span->started_ns);
    write_part(to, "\"handled\"", &at, message, span->started_ns, span->finished_ns);
    write_part(to, "\"returned\"", &at, message, span->finished_ns, span->received_ns);
    write_side(to, "e", text_of(queue), &at, message, span->received_ns);
    to->told->messages++;
}

/* ---- blocks ---- */

/* The receipt of the message; NULL: it was not taken, or is not timed. */
static const trace_span *receipt_of(const writer *to, const trace_span *handled)
{
    trace_span wanted = *handled;
    wanted.span.kind = GYRE_OBSERVE_SPAN_MESSAGE;
    wanted.span.started_ns = UINT64_MAX;
    const trace_span *found = last_below(to->set, &wanted);
    return found && found->span.queue == handled->span.queue && found->span.index == handled->span.index
               ? found
               : NULL;
}

/* A flow arrow has its ends in the slices around them. */
static void write_arrow_end(writer *to, const char *phase, const char *name, const row *at, size_t number,
                            uint64_t ns)
{
    begin_event(to, phase, "link", name, at);
    fprintf(to->out, ",\"id\":%zu%s", number, phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
    write_time(to->out, "ts", ns);
    fputc('}', to->out);
}

/* Draws the arrow to a message that came by a link. Its sender looks at the clock when it has sent all, so that the first of them may
 * be handled by then. */
static void write_arrow(writer *to, const trace_span *handled, const row *at)
{
    trace_span wanted = *handled;
    wanted.span.kind = GYRE_OBSERVE_SPAN_EMITTED;
    wanted.span.started_ns = UINT64_MAX;
    const trace_span *emitted = last_below(to->set, &wanted);
    if (!emitted || emitted->span.ring != handled->span.ring ||
        handled->span.place - emitted->span.place >= emitted->span.count)
        return;
    const trace_span *sender = sender_of(to, emitted);
    const uint64_t sent_ns = emitted->span.finished_ns < handled->span.started_ns ? emitted->span.finished_ns
                                                                                  : handled->span.started_ns;
    if (!sender || sent_ns < sender->span.started_ns || sent_ns > sender->span.finished_ns ||
        sender->span.block >= NO_BLOCK)
        return;
    const row from = row_of(to, sender, kernel_of(to, sender), sender->span.block);
    const trace_object *link =
        trace_object_named(at->process, GYRE_OBSERVE_LINK, emitted->span.link, sent_ns);
    const size_t number = ++to->told->arrows;
    write_arrow_end(to, "s", text_of(link), &from, number, sent_ns);
    write_arrow_end(to, "f", text_of(link), at, number, handled->span.started_ns);
}

static void write_handled(writer *to, const trace_span *handled)
{
    const gyre_observe_span *span = &handled->span;
    const trace_object *kernel = kernel_of(to, handled);
    const trace_span *receipt = span->queue ? receipt_of(to, handled) : NULL;
    const row at = row_of(to, handled, kernel, span->block);
    uint64_t end = span->finished_ns;
    if (span->started_ns > span->finished_ns || span->block >= NO_BLOCK) {
        to->told->refused++;
        return;
    }
    /* the block looks at the clock after it gave the reply away, so the receiver may have been quicker */
    if (receipt && receipt->span.received_ns < end && receipt->span.received_ns >= span->started_ns)
        end = receipt->span.received_ns;
    begin_event(to, "X", "handled", text_of(kernel), &at);
    write_time(to->out, "ts", span->started_ns);
    write_time(to->out, "dur", end - span->started_ns);
    write_args(to, handled,
               trace_object_named(at.process, GYRE_OBSERVE_QUEUE, span->queue, span->started_ns));
    fputc('}', to->out);
    to->told->handled++;
    if (span->ring)
        write_arrow(to, handled, &at);
    /* a client in another program: its header says when it sent, and nobody here when it received */
    if (!receipt && span->count == 0 && span->turn == 0 && span->sent_ns && span->sent_ns <= span->started_ns)
        write_part(to, "\"waited\"", &at, handled, span->sent_ns, span->started_ns);
}

/* ---- names ---- */

static void write_name(writer *to, const char *what, const row *at)
{
    fprintf(to->out,
            "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"args\":{\"name\":",
            to->begun ? ",\n" : "\n", what, at->group, at->number);
    to->begun = true;
}

/* A JSON string without its end, so that words can follow. */
static void write_open(FILE *out, const char *text)
{
    fprintf(out, "%.*s", (int)strlen(text) - 1, text);
}

static void name_row(writer *to, const row *at)
{
    write_name(to, "process_name", at);
    write_open(to->out, at->process->text);
    fputs(at->device ? ", " : "\"}}", to->out);
    if (at->device) /* the texts behind the first begin with a quote of their own */
        fprintf(to->out, "%.*s: %s}}", (int)strlen(at->device->text) - 2, at->device->text + 1,
                at->device->detail + 1);
    write_name(to, "thread_name", at);
    write_open(to->out, text_of(at->kernel));
    if (at->block == NO_BLOCK)
        fputs(", messages\"}}", to->out);
    else
        fprintf(to->out, ", block %" PRIu32 "\"}}", at->block);
}

/* Names the rows on which something stands: of the blocks, which are in order here, and of kernels whose blocks are not known. */
static void name_rows(writer *to)
{
    for (size_t i = 0; i < to->block_count && !is_full(to); i++) {
        const trace_span *span = to->blocks[i], *before = i ? to->blocks[i - 1] : NULL;
        const row at = row_of(to, span, kernel_of(to, span), span->span.block);
        const bool same = before && before->process == span->process &&
                          before->span.record == span->span.record &&
                          before->span.block == span->span.block && kernel_of(to, before) == at.kernel;
        if (!same && span->span.block < NO_BLOCK)
            name_row(to, &at);
    }
    for (size_t i = 0; i < to->set->process_count; i++) {
        const trace_process *process = &to->set->processes[i];
        const trace_span span = {.process = (uint32_t)i, .span.started_ns = UINT64_MAX};
        for (size_t object = 0; object < process->object_count && !is_full(to); object++) {
            const row at = row_of(to, &span, &process->objects[object], NO_BLOCK);
            if (process->counted && process->objects[object].kind == GYRE_OBSERVE_KERNEL)
                name_row(to, &at);
        }
    }
}

/* ---- the document ---- */

static bool find_blocks(writer *to)
{
    const trace_set *set = to->set;
    to->blocks = calloc(set->span_count + 1, sizeof(trace_span *));
    for (size_t i = 0; to->blocks && i < set->span_count; i++)
        if (set->spans[i].span.kind == GYRE_OBSERVE_SPAN_HANDLED)
            to->blocks[to->block_count++] = &set->spans[i];
    if (to->blocks)
        qsort(to->blocks, to->block_count, sizeof(trace_span *), by_block);
    return to->blocks != NULL;
}

static void write_span(writer *to, const trace_span *span)
{
    if (span->span.kind == GYRE_OBSERVE_SPAN_MESSAGE)
        write_message(to, span);
    else if (span->span.kind == GYRE_OBSERVE_SPAN_HANDLED)
        write_handled(to, span);
    else if (span->span.kind != GYRE_OBSERVE_SPAN_EMITTED)
        to->told->refused++;
}

bool trace_write_json(trace_set *set, FILE *out, size_t most_bytes, trace_told *told)
{
    writer to = {.set = set, .out = out, .told = told, .most_bytes = most_bytes};
    size_t written = 0;
    *told = (trace_told){0};
    if (set->span_count)
        qsort(set->spans, set->span_count, sizeof *set->spans, by_key);
    if (!trace_sort_objects(set) || !find_blocks(&to)) {
        free(to.blocks);
        return false;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    name_rows(&to);
    for (; written < set->span_count && !is_full(&to); written++)
        write_span(&to, &set->spans[written]);
    told->cut = set->span_count - written;
    fprintf(out, "\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"missing\":%" PRIu64 ",\"cut\":%zu}}\n",
            trace_missing(set), told->cut);
    free(to.blocks);
    return true;
}
