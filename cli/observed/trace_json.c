/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines as JSON (trace_json.h). */
#include "cli/observed/trace_json.h"

#include <inttypes.h>
#include <string.h>

/* Nanoseconds as microseconds, which the format wants, without a loss. */
static void write_time(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

/* Begins an event: what every event has. `name` and `category` are JSON strings. */
static void begin_event(trace_writer *to, const char *phase, const char *category, const char *name,
                        const trace_row *at)
{
    fprintf(to->out, "%s{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":%s,\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
            to->begun ? ",\n" : "\n", phase, category, name, at->group, at->number);
    to->begun = true;
}

static void write_args(const trace_writer *to, const trace_span *span, const trace_object *queue)
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

static void json_side(trace_writer *to, bool begins, const char *name, const trace_row *at,
                      const trace_span *span, uint64_t ns)
{
    begin_event(to, begins ? "b" : "e", "message", name, at);
    fprintf(to->out, ",\"id\":\"%" PRIu32 ".%" PRIx64 ".%" PRIx64 "\"", span->process, span->span.queue,
            span->span.index);
    write_time(to->out, "ts", ns);
    if (begins)
        write_args(to, span, trace_queue_of(to, span));
    fputc('}', to->out);
}

static void json_slice(trace_writer *to, const char *name, const trace_row *at, const trace_span *span,
                       uint64_t end_ns)
{
    begin_event(to, "X", "handled", name, at);
    write_time(to->out, "ts", span->span.started_ns);
    write_time(to->out, "dur", end_ns - span->span.started_ns);
    write_args(to, span, trace_queue_of(to, span));
    fputc('}', to->out);
}

/* A flow arrow has its ends in the slices around them. */
static void json_arrow_end(trace_writer *to, bool begins, const char *name, const trace_row *at, uint64_t ns)
{
    begin_event(to, begins ? "s" : "f", "link", name, at);
    fprintf(to->out, ",\"id\":%zu%s", to->told->arrows, begins ? "" : ",\"bp\":\"e\"");
    write_time(to->out, "ts", ns);
    fputc('}', to->out);
}

/* ---- names ---- */

static void write_name(trace_writer *to, const char *what, const trace_row *at)
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

static void json_row(trace_writer *to, const trace_row *at)
{
    write_name(to, "process_name", at);
    write_open(to->out, at->process->text);
    fputs(at->device ? ", " : "\"}}", to->out);
    if (at->device) /* the texts behind the first begin with a quote of their own */
        fprintf(to->out, "%.*s: %s}}", (int)strlen(at->device->text) - 2, at->device->text + 1,
                at->device->detail + 1);
    write_name(to, "thread_name", at);
    write_open(to->out, trace_name_of(at->kernel));
    if (at->block == TRACE_NO_BLOCK)
        fputs(", messages\"}}", to->out);
    else
        fprintf(to->out, ", block %" PRIu32 "\"}}", at->block);
}

/* ---- the document ---- */

static void json_open(trace_writer *to)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", to->out);
}

static void json_close(trace_writer *to)
{
    fprintf(to->out,
            "\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"missing\":%" PRIu64 ",\"cut\":%zu}}\n",
            trace_missing(to->set), to->told->cut);
}

const trace_form trace_json = {.open = json_open,
                               .row = json_row,
                               .slice = json_slice,
                               .side = json_side,
                               .arrow_end = json_arrow_end,
                               .close = json_close};
