/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads requests from arguments or from the lines of a descriptor. Does not use stdio: the caller has to know whether the next
 * line would make it wait, because it prints due replies before it waits.
 */
#include "cli/calls/request_source.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"

enum { READ_SIZE = 64 * 1024 };
static const char BOM[] = "\xef\xbb\xbf"; /* what some editors put before a file's first line */

void request_source_init_texts(request_source *source, const char *const *texts, size_t count)
{
    *source = (request_source){.texts = texts, .text_count = count, .descriptor = -1};
}

void request_source_init_lines(request_source *source, int descriptor)
{
    *source = (request_source){.descriptor = descriptor};
}

void request_source_finish(request_source *source)
{
    free(source->buffer);
    source->buffer = NULL;
}

const char *request_source_place(const request_source *source, char *text, size_t size)
{
    snprintf(text, size, source->texts ? "request %" PRIu64 : "line %" PRIu64 " of standard input",
             source->number);
    return text;
}

static request_state next_text(request_source *source, const char **text, size_t *length)
{
    if (source->number == source->text_count)
        return REQUEST_END;
    *text = source->texts[source->number++];
    *length = strlen(*text);
    return REQUEST_READY;
}

/* Makes room for READ_SIZE more bytes behind the bytes in the buffer. */
static bool make_room(request_source *source)
{
    if (source->start) {
        memmove(source->buffer, source->buffer + source->start, source->end - source->start);
        source->end -= source->start;
        source->start = 0;
    }
    if (source->capacity - source->end >= READ_SIZE)
        return true;
    size_t capacity = source->capacity ? 2 * source->capacity : 2 * (size_t)READ_SIZE;
    char *buffer = realloc(source->buffer, capacity);
    if (!buffer)
        return false;
    source->buffer = buffer;
    source->capacity = capacity;
    return true;
}

static bool would_wait(int descriptor)
{
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, 0) == 0;
}

static request_state read_more(request_source *source, bool wait)
{
    if (!wait && would_wait(source->descriptor))
        return REQUEST_NOT_YET;
    if (!make_room(source)) {
        gyre_error_set(GYRE_EXHAUSTED, "out of memory while reading requests");
        return REQUEST_ERROR;
    }
    ssize_t got;
    do
        got = read(source->descriptor, source->buffer + source->end, source->capacity - source->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        gyre_error_set(GYRE_FAILED, "cannot read standard input: %s", strerror(errno));
        return REQUEST_ERROR;
    }
    source->end += (size_t)got;
    source->ended = got == 0;
    return REQUEST_READY;
}

/* Takes the line at the front of the buffer, when the line is complete. */
static bool take_line(request_source *source, const char **text, size_t *length)
{
    size_t there = source->end - source->start;
    const char *front = there ? source->buffer + source->start : NULL;
    const char *newline = there ? memchr(front, '\n', there) : NULL;
    if (!newline && !(source->ended && there))
        return false;
    *text = front;
    *length = newline ? (size_t)(newline - front) : there;
    source->start += newline ? *length + 1 : there;
    if (source->number++ == 0 && *length >= sizeof BOM - 1 && memcmp(front, BOM, sizeof BOM - 1) == 0) {
        *text += sizeof BOM - 1;
        *length -= sizeof BOM - 1;
    }
    return true;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* Drops the part of a refused line's rest that is in the buffer. */
static void skip_rest(request_source *source)
{
    if (!source->skipping || source->start == source->end)
        return;
    const char *front = source->buffer + source->start;
    const char *newline = memchr(front, '\n', source->end - source->start);
    source->start = newline ? (size_t)(newline - source->buffer) + 1 : source->end;
    source->skipping = !newline;
}

static request_state refuse_line(const request_source *source)
{
    gyre_error_set(GYRE_INVALID, "line %" PRIu64 " of standard input is longer than %d bytes", source->number,
                   REQUEST_LINE_MAX);
    return REQUEST_REFUSED;
}

request_state request_source_next(request_source *source, bool wait, const char **text, size_t *length)
{
    if (source->texts)
        return next_text(source, text, length);
    for (;;) {
        skip_rest(source);
        while (take_line(source, text, length)) {
            if (*length > REQUEST_LINE_MAX)
                return refuse_line(source);
            if (!is_blank(*text, *length))
                return REQUEST_READY;
        }
        /* reported at once, because the line may never end */
        if (source->end - source->start > REQUEST_LINE_MAX) {
            source->skipping = true;
            source->number++;
            return refuse_line(source);
        }
        if (source->ended)
            return REQUEST_END;
        request_state state = read_more(source, wait);
        if (state != REQUEST_READY)
            return state;
    }
}
