/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans as events of a timeline (trace_events.h). Spans are put into one order: by process, kind, and what another span finds them by. So
 * a search in halves finds the block that handled a message, and who sent what came by a link.
 */
#include "cli/observed/trace_events.h"

#include <stdlib.h>

static bool is_full(const trace_writer *to)
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
static const trace_span *sender_of(const trace_writer *to, const trace_span *emitted)
{
    const trace_span *const *found =
        bsearch(&emitted, to->blocks, to->block_count, sizeof(trace_span *), by_block);
    return found ? *found : NULL;
}

/* ---- rows ---- */

static const trace_process *process_of(const trace_writer *to, const trace_span *span)
{
    return &to->set->processes[span->process];
}

/* The number of a row's group: that of a device, unique among all processes. `device`: NULL if it is not known. */
static uint64_t group_of(const trace_process *process, const trace_object *device)
{
    return process->group + (device ? (uint64_t)(device - process->objects) + 1 : 0);
}

static trace_row row_of(const trace_writer *to, const trace_span *span, const trace_object *kernel,
                        uint32_t block)
{
    const trace_process *process = process_of(to, span);
    const trace_object *device =
        kernel ? trace_object_of(process, GYRE_OBSERVE_DEVICE, kernel->device, span->span.started_ns) : NULL;
    const uint64_t place = kernel ? (uint64_t)(kernel - process->objects) + 1 : 0;
    return (trace_row){.group = group_of(process, device),
                       .number = place * TRACE_BLOCKS_MOST + block,
                       .process = process,
                       .kernel = kernel,
                       .device = device,
                       .block = block};
}

static const trace_object *kernel_of(const trace_writer *to, const trace_span *span)
{
    return trace_object_of(process_of(to, span), GYRE_OBSERVE_KERNEL, span->span.record,
                           span->span.started_ns);
}

const char *trace_name_of(const trace_object *object)
{
    return object ? object->text : "\"unknown\"";
}

const trace_object *trace_queue_of(const trace_writer *to, const trace_span *span)
{
    return trace_object_named(process_of(to, span), GYRE_OBSERVE_QUEUE, span->span.queue,
                              span->span.started_ns);
}

static void write_part(trace_writer *to, const char *name, const trace_row *at, const trace_span *span,
                       uint64_t from, uint64_t to_ns)
{
    to->form->side(to, true, name, at, span, from);
    to->form->side(to, false, name, at, span, to_ns);
}

/* ---- messages ---- */

/* The first span of a block of the same request; NULL: none was taken. */
static const trace_span *first_handled(const trace_writer *to, const trace_span *message)
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

static uint64_t begin_of(const gyre_observe_span *span)
{
    return span->kind == GYRE_OBSERVE_SPAN_MESSAGE ? span->sent_ns : span->started_ns;
}

static bool is_in_order(const gyre_observe_span *span)
{
    return span->sent_ns <= span->started_ns && span->started_ns <= span->finished_ns &&
           span->finished_ns <= span->received_ns;
}

static void write_message(trace_writer *to, const trace_span *message)
{
    const gyre_observe_span *span = &message->span;
    const trace_process *process = process_of(to, message);
    const trace_object *queue = trace_object_of(process, GYRE_OBSERVE_QUEUE, span->record, span->sent_ns);
    const trace_object *kernel =
        queue ? trace_object_of(process, GYRE_OBSERVE_KERNEL, queue->parent, span->sent_ns) : NULL;
    const trace_span *handled = first_handled(to, message);
    const trace_row at =
        row_of(to, message, kernel,
               handled && handled->span.block < TRACE_NO_BLOCK ? handled->span.block : TRACE_NO_BLOCK);
    if (!is_in_order(span)) {
        to->told->refused++;
        return;
    }
    to->form->side(to, true, trace_name_of(queue), &at, message, span->sent_ns);
    write_part(to, "\"waited\"", &at, message, span->sent_ns, span->started_ns);
    write_part(to, "\"handled\"", &at, message, span->started_ns, span->finished_ns);
    write_part(to, "\"returned\"", &at, message, span->finished_ns, span->received_ns);
    to->form->side(to, false, trace_name_of(queue), &at, message, span->received_ns);
    to->told->messages++;
}

/* ---- blocks ---- */

/* The receipt of the message; NULL: it was not taken, or is not timed. */
static const trace_span *receipt_of(const trace_writer *to, const trace_span *handled)
{
    trace_span wanted = *handled;
    wanted.span.kind = GYRE_OBSERVE_SPAN_MESSAGE;
    wanted.span.started_ns = UINT64_MAX;
    const trace_span *found = last_below(to->set, &wanted);
    return found && found->span.queue == handled->span.queue && found->span.index == handled->span.index
               ? found
               : NULL;
}

/* Draws the arrow to a message that came by a link. Processes of earlier versions of Gyre looked at the clock when all was sent, so that
 * the first message may have been handled by then. */
static void write_arrow(trace_writer *to, const trace_span *handled, const trace_row *at)
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
        sender->span.block >= TRACE_NO_BLOCK)
        return;
    const trace_row from = row_of(to, sender, kernel_of(to, sender), sender->span.block);
    const trace_object *link =
        trace_object_named(at->process, GYRE_OBSERVE_LINK, emitted->span.link, sent_ns);
    to->told->arrows++;
    to->form->arrow_end(to, true, trace_name_of(link), &from, sent_ns);
    to->form->arrow_end(to, false, trace_name_of(link), at, handled->span.started_ns);
}

static void write_handled(trace_writer *to, const trace_span *handled)
{
    const gyre_observe_span *span = &handled->span;
    const trace_object *kernel = kernel_of(to, handled);
    const trace_span *receipt = span->queue ? receipt_of(to, handled) : NULL;
    const trace_row at = row_of(to, handled, kernel, span->block);
    uint64_t end = span->finished_ns;
    if (span->started_ns > span->finished_ns || span->block >= TRACE_NO_BLOCK) {
        to->told->refused++;
        return;
    }
    /* the block looks at the clock after it gave the reply away, so the receiver may have been quicker */
    if (receipt && receipt->span.received_ns < end && receipt->span.received_ns >= span->started_ns)
        end = receipt->span.received_ns;
    to->form->slice(to, trace_name_of(kernel), &at, handled, end);
    to->told->handled++;
    if (span->ring)
        write_arrow(to, handled, &at);
    /* a client in another program: its header says when it sent, and nobody here when it received */
    if (!receipt && span->count == 0 && span->turn == 0 && span->sent_ns && span->sent_ns <= span->started_ns)
        write_part(to, "\"waited\"", &at, handled, span->sent_ns, span->started_ns);
}

/* ---- names ---- */

/* Names the rows on which something stands: of the blocks, which are in order here, and of kernels whose blocks are not known. */
static void name_rows(trace_writer *to)
{
    for (size_t i = 0; i < to->block_count && !is_full(to); i++) {
        const trace_span *span = to->blocks[i], *before = i ? to->blocks[i - 1] : NULL;
        const trace_row at = row_of(to, span, kernel_of(to, span), span->span.block);
        const bool same = before && before->process == span->process &&
                          before->span.record == span->span.record &&
                          before->span.block == span->span.block && kernel_of(to, before) == at.kernel;
        if (!same && span->span.block < TRACE_NO_BLOCK)
            to->form->row(to, &at);
    }
    for (size_t i = 0; i < to->set->process_count; i++) {
        const trace_process *process = &to->set->processes[i];
        const trace_span span = {.process = (uint32_t)i, .span.started_ns = UINT64_MAX};
        for (size_t object = 0; object < process->object_count && !is_full(to); object++) {
            const trace_row at = row_of(to, &span, &process->objects[object], TRACE_NO_BLOCK);
            if (process->counted && process->objects[object].kind == GYRE_OBSERVE_KERNEL)
                to->form->row(to, &at);
        }
    }
}

/* ---- the document ---- */

/* By the stamps with which spans begin: what comes after something else has a larger one. */
static int by_stamp(const void *one, const void *other)
{
    const trace_span *a = *(const trace_span *const *)one, *b = *(const trace_span *const *)other;
    const int order = compare(begin_of(&a->span), begin_of(&b->span));
    return order ? order : by_key(a, b);
}

/* The spans that are written, in order: all but those that only say where arrows begin. The caller frees the list. */
static const trace_span **list_in_order(const trace_set *set, size_t *count)
{
    const trace_span **list = calloc(set->span_count + 1, sizeof(trace_span *));
    *count = 0;
    for (size_t i = 0; list && i < set->span_count; i++)
        if (set->spans[i].span.kind != GYRE_OBSERVE_SPAN_EMITTED)
            list[(*count)++] = &set->spans[i];
    if (list)
        qsort(list, *count, sizeof(trace_span *), by_stamp);
    return list;
}

static bool find_blocks(trace_writer *to)
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

static void write_span(trace_writer *to, const trace_span *span)
{
    if (span->span.kind == GYRE_OBSERVE_SPAN_MESSAGE)
        write_message(to, span);
    else if (span->span.kind == GYRE_OBSERVE_SPAN_HANDLED)
        write_handled(to, span);
    else
        to->told->refused++;
}

bool trace_write(trace_set *set, const trace_form *form, FILE *out, size_t most_bytes, trace_told *told)
{
    trace_writer to = {.set = set, .form = form, .out = out, .told = told, .most_bytes = most_bytes};
    size_t written = 0, count = 0;
    *told = (trace_told){0};
    if (set->span_count)
        qsort(set->spans, set->span_count, sizeof *set->spans, by_key);
    const trace_span **list = list_in_order(set, &count);
    if (!list || !trace_sort_objects(set) || !find_blocks(&to)) {
        free(list);
        free(to.blocks);
        return false;
    }
    form->open(&to);
    name_rows(&to);
    for (; written < count && !is_full(&to); written++)
        write_span(&to, list[written]);
    told->cut = count - written;
    form->close(&to);
    free(list);
    free(to.blocks);
    return !to.failed;
}
