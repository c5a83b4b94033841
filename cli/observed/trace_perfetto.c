/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines as packets of Perfetto (trace_perfetto.h). A device is a track, with a track for each of its blocks below; each message has a
 * track of its own, because spans of one track have to nest. The ends of an arrow are instants inside of the slices that it connects.
 * Times are those of CLOCK_MONOTONIC, which the first packet makes the clock of the trace.
 */
#include "cli/observed/trace_perfetto.h"

#include <inttypes.h>

#include "cli/json/json.h"
#include "cli/observed/protobuf.h"

/* Fields of messages, by the name of the message: protos/perfetto/trace/perfetto_trace.proto of Perfetto. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_CLOCK_ID = 58,
    PACKET_TRACK_DESCRIPTOR = 60
};
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
enum {
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORIES = 22,
    EVENT_NAME = 23,
    EVENT_FLOWS = 47,
    EVENT_FLOWS_END = 48
};
enum { ANNOTATION_BOOL = 2, ANNOTATION_NUMBER = 3, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { SEQUENCE = 1, STATE_CLEARED = 1, CLOCK_IS_MONOTONIC = 3 };

/* Tracks of messages have this bit, those of devices and blocks have it not. */
#define MESSAGE_TRACK (UINT64_C(1) << 63)

static uint64_t group_track(const trace_row *at)
{
    return ((at->group + 1) << 32 | UINT32_MAX) & ~MESSAGE_TRACK;
}

static uint64_t row_track(const trace_row *at)
{
    return ((at->group + 1) << 32 | (uint32_t)at->number) & ~MESSAGE_TRACK;
}

/* ---- packets ---- */

/* Writes a packet whose content is `content`, in that field, and empties it. */
static void write_packet(trace_writer *to, uint32_t field, protobuf *content, const uint64_t *ns)
{
    protobuf packet = {0}, trace = {0};
    if (ns) {
        protobuf_number(&packet, PACKET_TIMESTAMP, *ns);
        protobuf_number(&packet, PACKET_CLOCK_ID, CLOCK_IS_MONOTONIC);
    }
    protobuf_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
    if (!to->begun)
        protobuf_number(&packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    to->begun = true;
    protobuf_message(&packet, field, content);
    protobuf_message(&trace, TRACE_PACKET, &packet);
    if (trace.failed)
        to->failed = true;
    else
        fwrite(trace.bytes, 1, trace.size, to->out);
    protobuf_finish(&trace);
}

/* Adds a text that is given as a JSON string. */
static void put_name(protobuf *message, uint32_t field, const char *string)
{
    json_t *value = json_loads(string, JSON_DECODE_ANY, NULL);
    const char *text = json_string_value(value);
    if (text)
        protobuf_text(message, field, text);
    else
        message->failed = true;
    json_decref(value);
}

static void write_track(trace_writer *to, uint64_t track, uint64_t parent, const char *name)
{
    protobuf descriptor = {0};
    protobuf_number(&descriptor, TRACK_UUID, track);
    protobuf_text(&descriptor, TRACK_NAME, name);
    if (parent)
        protobuf_number(&descriptor, TRACK_PARENT, parent);
    write_packet(to, PACKET_TRACK_DESCRIPTOR, &descriptor, NULL);
}

/* ---- what is said of a span ---- */

static void annotate_number(protobuf *event, const char *name, uint64_t value, uint32_t kind)
{
    protobuf annotation = {0};
    protobuf_text(&annotation, ANNOTATION_NAME, name);
    protobuf_number(&annotation, kind, value);
    protobuf_message(event, EVENT_ANNOTATIONS, &annotation);
}

static void annotate_trace(protobuf *event, const uint64_t trace[2])
{
    char text[33];
    protobuf annotation = {0};
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, trace[0], trace[1]);
    protobuf_text(&annotation, ANNOTATION_NAME, "trace");
    protobuf_text(&annotation, ANNOTATION_TEXT, text);
    protobuf_message(event, EVENT_ANNOTATIONS, &annotation);
}

static void annotate(const trace_writer *to, protobuf *event, const trace_span *span)
{
    const trace_object *queue = trace_queue_of(to, span);
    const gyre_observe_span *about = &span->span;
    if (queue) {
        protobuf annotation = {0};
        protobuf_text(&annotation, ANNOTATION_NAME, "queue");
        put_name(&annotation, ANNOTATION_TEXT, queue->text);
        protobuf_message(event, EVENT_ANNOTATIONS, &annotation);
    }
    annotate_number(event, "index", about->index, ANNOTATION_NUMBER);
    if (about->trace[0] || about->trace[1])
        annotate_trace(event, about->trace);
    if (about->kind != GYRE_OBSERVE_SPAN_HANDLED)
        return;
    annotate_number(event, "block", about->block, ANNOTATION_NUMBER);
    annotate_number(event, "links", about->count, ANNOTATION_NUMBER);
    annotate_number(event, "failed", about->failed != 0, ANNOTATION_BOOL);
}

/* ---- the form ---- */

/* Begins an event; `name` is a JSON string, NULL at an end. */
static protobuf begin_event(unsigned type, uint64_t track, const char *category, const char *name)
{
    protobuf event = {0};
    protobuf_number(&event, EVENT_TYPE, type);
    protobuf_number(&event, EVENT_TRACK, track);
    if (!name)
        return event;
    protobuf_text(&event, EVENT_CATEGORIES, category);
    put_name(&event, EVENT_NAME, name);
    return event;
}

/* The clock of the trace. A snapshot has a time of each clock that it speaks of; of one clock, any time does. */
static void perfetto_open(trace_writer *to)
{
    protobuf snapshot = {0}, clock = {0};
    protobuf_number(&clock, CLOCK_ID, CLOCK_IS_MONOTONIC);
    protobuf_number(&clock, CLOCK_TIMESTAMP, 0);
    protobuf_message(&snapshot, SNAPSHOT_CLOCKS, &clock);
    protobuf_number(&snapshot, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
    write_packet(to, PACKET_CLOCK_SNAPSHOT, &snapshot, NULL);
}

static void perfetto_row(trace_writer *to, const trace_row *at)
{
    char name[640];
    json_t *process = json_loads(at->process->text, JSON_DECODE_ANY, NULL);
    json_t *kernel = json_loads(trace_name_of(at->kernel), JSON_DECODE_ANY, NULL);
    json_t *device = at->device ? json_loads(at->device->text, JSON_DECODE_ANY, NULL) : NULL;
    json_t *detail = at->device ? json_loads(at->device->detail, JSON_DECODE_ANY, NULL) : NULL;
    const char *words[] = {json_string_value(process), json_string_value(kernel), json_string_value(device),
                           json_string_value(detail)};
    if (!words[0] || !words[1] || (at->device && (!words[2] || !words[3])))
        to->failed = true;
    if (!to->failed) {
        snprintf(name, sizeof name, at->device ? "%s, %s: %s" : "%s", words[0], words[2], words[3]);
        write_track(to, group_track(at), 0, name);
        if (at->block == TRACE_NO_BLOCK)
            snprintf(name, sizeof name, "%s, messages", words[1]);
        else
            snprintf(name, sizeof name, "%s, block %" PRIu32, words[1], at->block);
        write_track(to, row_track(at), group_track(at), name);
    }
    json_decref(process);
    json_decref(kernel);
    json_decref(device);
    json_decref(detail);
}

static void perfetto_slice(trace_writer *to, const char *name, const trace_row *at, const trace_span *span,
                           uint64_t end_ns)
{
    protobuf event = begin_event(TYPE_BEGIN, row_track(at), "handled", name);
    annotate(to, &event, span);
    write_packet(to, PACKET_TRACK_EVENT, &event, &span->span.started_ns);
    event = begin_event(TYPE_END, row_track(at), NULL, NULL);
    write_packet(to, PACKET_TRACK_EVENT, &event, &end_ns);
}

static void perfetto_side(trace_writer *to, bool begins, const char *name, const trace_row *at,
                          const trace_span *span, uint64_t ns)
{
    if (begins && to->deep++ == 0)
        write_track(to, MESSAGE_TRACK | ++to->tracks, row_track(at), "messages");
    protobuf event = begin_event(begins ? TYPE_BEGIN : TYPE_END, MESSAGE_TRACK | to->tracks, "message",
                                 begins ? name : NULL);
    if (begins)
        annotate(to, &event, span);
    else
        to->deep--;
    write_packet(to, PACKET_TRACK_EVENT, &event, &ns);
}

static void perfetto_arrow_end(trace_writer *to, bool begins, const char *name, const trace_row *at,
                               uint64_t ns)
{
    protobuf event = begin_event(TYPE_INSTANT, row_track(at), "link", name);
    protobuf_fixed64(&event, begins ? EVENT_FLOWS : EVENT_FLOWS_END, to->told->arrows);
    write_packet(to, PACKET_TRACK_EVENT, &event, &ns);
}

static void perfetto_close(trace_writer *to)
{
    (void)to; /* a trace ends with its last packet */
}

const trace_form trace_perfetto = {.open = perfetto_open,
                                   .row = perfetto_row,
                                   .slice = perfetto_slice,
                                   .side = perfetto_side,
                                   .arrow_end = perfetto_arrow_end,
                                   .close = perfetto_close};
