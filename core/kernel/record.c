/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins recordings of queues (core/stages/recording.h): the header of the file, a case file (docs/testing.md), says which kernel
 * it was. A queue with messages that a case file cannot hold is refused. No locks of its own.
 */
#include "core/kernel/record.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/pipeline/build.h"
#include "core/stages/recording.h"

static void tell_end(const void *context, const char *sentence)
{
    const gyre_kernel *kernel = context;
    gyre_runtime_log(kernel->runtime, GYRE_LOG_ERROR, "kernel '%s': %s", kernel->name, sentence);
}

/* Writes a text with the escapes of JSON. */
static void write_json(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
}

/* The first line of the file. NULL without memory; free(). */
static char *make_header(const gyre_kernel *kernel)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("{\"gyre_case\":1,\"kernel\":\"", out);
    write_json(out, gyre_build_report(kernel->build)->file);
    fprintf(out, ":%s\"", kernel->record->name);
    if (gyre_form_shares(kernel->record->form)) /* other handlers do not know their lanes */
        fprintf(out, ",\"lanes\":%u", kernel->lanes);
    fputs("}\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Why a recording cannot hold the messages of a queue; NULL: it can. */
static const char *refusal(const gyre_kernel *kernel, const char *section)
{
    if (gyre_kernel_queue_setting(kernel, section, "wire") != 0)
        return "its messages have a wire form (wire)";
    if (gyre_kernel_queue_setting(kernel, section, "span_handles") != 0)
        return "its large spans lie in device memory (span_handles)";
    return NULL;
}

gyre_status gyre_kernel_record_queue(gyre_kernel *kernel, const char *section, gyre_queue *queue)
{
    const struct gyre_config *config = kernel->runtime->config;
    const char *path = gyre_config_text(config, GYRE_SECTION_QUEUE, section, "record");
    const char *why = path[0] ? refusal(kernel, section) : NULL;
    if (!path[0] || kernel->migrates)
        return GYRE_OK;
    if (why)
        return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "record",
                                 gyre_error_set(GYRE_CONFIG, "queue '%s' cannot be recorded: %s",
                                                section[0] ? section : "default", why));
    char *header = make_header(kernel);
    if (!header)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the recording '%s'", path);
    const struct gyre_recording_desc desc = {
        .path = path,
        .header = header,
        .failures = (uint64_t)gyre_config_int(config, GYRE_SECTION_QUEUE, section, "record_failures"),
        .failed = tell_end,
        .context = kernel};
    const gyre_status status = gyre_recording_create(queue, &desc);
    free(header);
    return status;
}
