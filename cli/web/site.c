/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers requests (site.h). Observation files are read when somebody asks, and what was read is kept for a moment: many who ask at
 * once cost as much as one.
 */
#include "cli/web/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/observed/health.h"
#include "cli/json/json.h"
#include "cli/observed/rates_look.h"
#include "cli/observed/stat_print.h"
#include "cli/observed/top_screen.h"
#include "cli/observed/trace_json.h"
#include "cli/observed/why.h"
#include "core/base/error.h"
#include "gyre/waiting.h"
#include "web_page.inc" /* page_html, page_css and page_js, from the files of this folder */

#define FRESH_NS UINT64_C(200000000) /* least time for which what was read is shown */
enum {
    EVENTS_SHOWN = 50,
    SECONDS_PRESET = 5,
    SECONDS_MOST = 60, /* of a trace */
    SPANS_MOST = 100000,
    TRACE_BYTES_MOST = 64 << 20 /* of the text of a trace */
};
static const char PLAIN[] = "text/plain; charset=utf-8", JSON[] = "application/json";

/* ---- what was read ---- */

static void forget_texts(web_site *site)
{
    web_text_release(site->metrics);
    web_text_release(site->json);
    web_text_release(site->event);
    site->metrics = site->json = site->event = NULL;
}

/*
 * False: nothing is known of the processes, because memory or descriptors ran out. Where there are many processes, or the machine is busy,
 * reading takes long: it takes half of the time at most, so that those who ask are answered.
 */
static bool refresh(web_site *site)
{
    const uint64_t now = gyre_clock_ns();
    if (site->fresh_until_ns && now < site->fresh_until_ns)
        return site->is_known;
    forget_texts(site);
    site->is_known = rates_look(&site->source, &site->processes, &site->table) == CLI_OK;
    gyre_error_clear();
    const uint64_t end = gyre_clock_ns(), took_ns = end - now;
    site->fresh_until_ns = end + (took_ns > FRESH_NS ? took_ns : FRESH_NS);
    return site->is_known;
}

static void end_trace(web_site *site)
{
    trace_record_end(&site->trace);
    web_text_release(site->traced);
    site->traced = NULL;
    site->traces = false;
}

void web_site_finish(web_site *site)
{
    forget_texts(site);
    end_trace(site);
    rates_finish(&site->table);
    observed_finish(&site->processes);
}

/* ---- texts ---- */

typedef struct page_writer {
    FILE *out;
    char *bytes;
    size_t size;
} page_writer;

/* False without memory. */
static bool begin_text(page_writer *writer)
{
    *writer = (page_writer){0};
    writer->out = open_memstream(&writer->bytes, &writer->size);
    return writer->out != NULL;
}

static web_text *end_text(page_writer *writer)
{
    const bool whole = !ferror(writer->out);
    if (fclose(writer->out) == 0 && whole)
        return web_text_own(writer->bytes, writer->size);
    free(writer->bytes);
    return NULL;
}

static web_text *make_metrics(const web_site *site)
{
    page_writer writer;
    if (!begin_text(&writer))
        return NULL;
    stat_print_prometheus(&site->processes, writer.out);
    return end_text(&writer);
}

/* What `gyre why` says of each kernel, and how much of it is wrong. */
static json_t *why_json(const web_site *site)
{
    json_t *list = json_array();
    for (size_t i = 0; i < site->table.count; i++) {
        const rates_row *row = &site->table.rows[i];
        page_writer writer;
        if (row->kind != GYRE_OBSERVE_KERNEL || !begin_text(&writer))
            continue;
        const unsigned wrong = why_tell_kernel(writer.out, &site->table, i);
        if (fclose(writer.out) == 0)
            json_array_append_new(list, cli_json_object("IIis", "pid", (json_int_t)row->pid, "record",
                                                        (json_int_t)row->record, "wrong", (int)wrong, "text",
                                                        writer.bytes));
        free(writer.bytes);
    }
    return list;
}

static char *write_json(const web_site *site)
{
    json_t *document = stat_json(&site->processes, EVENTS_SHOWN);
    json_t *rows = top_json(&site->table);
    if (document && rows)
        json_object_update(document, rows);
    json_decref(rows);
    if (document)
        json_object_set_new(document, "why", why_json(site));
    return cli_write_json(document);
}

static web_text *make_json(const web_site *site)
{
    char *text = write_json(site);
    return text ? web_text_own(text, strlen(text)) : NULL;
}

/* An event of a stream of events: the same document, in one line of data. */
static web_text *make_event(const web_site *site)
{
    page_writer writer;
    char *text = write_json(site);
    const bool begun = text && begin_text(&writer);
    if (begun)
        fprintf(writer.out, "data: %s\n\n", text);
    free(text);
    return begun ? end_text(&writer) : NULL;
}

static web_text *shown(web_site *site, web_text **kept, web_text *(*make)(const web_site *site))
{
    if (!refresh(site))
        return NULL;
    if (!*kept)
        *kept = make(site);
    return web_text_hold(*kept);
}

/* ---- health ---- */

static void answer_health(web_site *site, const web_request *request, health_question question,
                          web_answer *out)
{
    char name[GYRE_OBSERVE_NAME_MAX], sentence[HEALTH_TEXT];
    size_t seen = 0;
    bool good;
    page_writer writer;
    if (!refresh(site) || !begin_text(&writer))
        return;
    if (request->query[0] && !web_request_parameter(request, "kernel", name, sizeof name)) {
        fprintf(writer.out, "expected nothing, or ?kernel=NAME\n");
        out->status = WEB_BAD_REQUEST;
        out->body = end_text(&writer);
        return;
    }
    if (request->query[0]) {
        good = health_of_one(&site->processes, name, question, sentence);
        fprintf(writer.out, "%s\n", sentence);
    } else {
        good = health_of_all(&site->processes, question, writer.out, &seen);
        if (good && seen == 0)
            fprintf(writer.out, "no kernel runs here%s\n",
                    question == HEALTH_LIVES ? ", nothing is wrong" : "");
        else if (good)
            fprintf(writer.out, "%zu kernel%s, nothing is wrong\n", seen, seen == 1 ? "" : "s");
        good = good && (seen > 0 || question == HEALTH_LIVES); /* nothing that runs is not ready */
    }
    out->status = good ? WEB_OK : WEB_UNAVAILABLE;
    out->body = end_text(&writer);
}

/* ---- traces ---- */

static void answer_sentence(web_answer *out, web_status status, const char *sentence)
{
    out->status = status;
    out->body = web_text_borrow(sentence, strlen(sentence));
}

/* The seconds of a request; 0: it asks for none that are possible. */
static uint64_t seconds_of(const web_request *request)
{
    char text[8];
    if (!request->query[0])
        return SECONDS_PRESET;
    if (!web_request_parameter(request, "seconds", text, sizeof text) ||
        strspn(text, "0123456789") != strlen(text))
        return 0;
    const unsigned long seconds = strtoul(text, NULL, 10);
    return seconds <= SECONDS_MOST ? seconds : 0;
}

/*
 * Begins a trace. It takes its time, and costs the processes a little, so there is one at a time, and no page of another site may have
 * one taken through the browser of somebody who reaches this server.
 */
static void answer_trace(web_site *site, const web_request *request, web_answer *out)
{
    const uint64_t seconds = seconds_of(request);
    if (request->is_cross_site)
        answer_sentence(out, WEB_FORBIDDEN, "another site asks for this: open /trace itself\n");
    else if (!seconds)
        answer_sentence(out, WEB_BAD_REQUEST, "expected nothing, or ?seconds=N with N from 1 to 60\n");
    else if (request->head_only)
        answer_sentence(out, WEB_OK, "");
    else if (site->traces)
        answer_sentence(out, WEB_UNAVAILABLE,
                        "a trace is being taken, or sent: ask again when it is there\n");
    else if (trace_record_begin(&site->trace, &site->source, seconds, SPANS_MOST) != CLI_OK) {
        trace_record_end(&site->trace);
        answer_sentence(out, WEB_UNAVAILABLE,
                        "no process can be traced: the standard error of gyre web says why\n");
    } else
        out->waits = site->traces = true;
}

static web_text *make_trace(web_site *site)
{
    page_writer writer;
    trace_told told;
    if (!begin_text(&writer))
        return NULL;
    const bool whole = trace_write(&site->trace.set, &trace_json, writer.out, TRACE_BYTES_MOST, &told);
    web_text *text = end_text(&writer);
    if (whole)
        return text;
    web_text_release(text);
    return NULL;
}

/* The trace is over when its text is sent or dropped: texts are large, and clients that read slowly shall not collect them here. */
static bool await_sent(web_site *site)
{
    if (web_text_is_shared(site->traced))
        return true;
    end_trace(site);
    return false;
}

static bool give_trace(web_site *site, web_server *server)
{
    web_answer answer = {.status = WEB_OK, .type = JSON};
    if (site->trace.code == CLI_OK) {
        answer.body = make_trace(site);
    } else {
        answer.type = PLAIN;
        answer_sentence(&answer, WEB_UNAVAILABLE,
                        "the trace ended early: the standard error of gyre web says why\n");
    }
    trace_record_end(&site->trace);
    site->traced = web_text_hold(answer.body);
    web_server_answer(server, &answer);
    return await_sent(site);
}

bool web_site_step(void *context, web_server *server, size_t waiting)
{
    web_site *site = context;
    if (!site->traces)
        return false;
    if (site->traced)
        return await_sent(site);
    if (waiting && trace_record_step(&site->trace))
        return true;
    if (waiting)
        return give_trace(site, server);
    end_trace(site);
    return false;
}

/* ---- paths ---- */

static web_text *make_index(void)
{
    static const char text[] =
        "not found: expected /, /metrics, /json, /events, /trace, /healthz or /readyz\n";
    return web_text_borrow(text, sizeof text - 1);
}

void web_site_answer(void *context, const web_request *request, web_answer *out)
{
    static const struct {
        const char *path, *type;
        const unsigned char *bytes;
        size_t size;
    } files[] = {{"/", "text/html; charset=utf-8", page_html, sizeof page_html},
                 {"/page.css", "text/css; charset=utf-8", page_css, sizeof page_css},
                 {"/page.js", "text/javascript; charset=utf-8", page_js, sizeof page_js}};
    web_site *site = context;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(request->path, files[i].path) == 0) {
            *out = (web_answer){WEB_OK, files[i].type, web_text_borrow(files[i].bytes, files[i].size), false,
                                false};
            return;
        }
    if (strcmp(request->path, "/metrics") == 0)
        *out = (web_answer){WEB_OK, "text/plain; version=0.0.4; charset=utf-8",
                            shown(site, &site->metrics, make_metrics), false, false};
    else if (strcmp(request->path, "/json") == 0)
        *out = (web_answer){WEB_OK, JSON, shown(site, &site->json, make_json), false, false};
    else if (strcmp(request->path, "/events") == 0)
        *out = (web_answer){WEB_OK, "text/event-stream", shown(site, &site->event, make_event), true, false};
    else if (strcmp(request->path, "/trace") == 0)
        answer_trace(site, request, out);
    else if (strcmp(request->path, "/healthz") == 0)
        answer_health(site, request, HEALTH_LIVES, out);
    else if (strcmp(request->path, "/readyz") == 0)
        answer_health(site, request, HEALTH_WORKS, out);
    else
        *out = (web_answer){WEB_NOT_FOUND, PLAIN, make_index(), false, false};
}

void web_site_tick(void *context, web_server *server)
{
    web_site *site = context;
    web_text *event = shown(site, &site->event, make_event);
    if (event)
        web_server_publish(server, event);
    web_text_release(event);
}
