/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the thread-local error stack (error.h). Fixed storage, no locks. A frame that does not fit is cut. When all
 * frames are taken, the newest context replaces the previous newest, so that the cause survives.
 */
#define GYRE_ERROR_DEFINES
#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gyre/waiting.h"
#include "gyre/gyre.h" /* what it declares is visible to applications */

enum { FRAMES = 6, FRAME_SIZE = 1024 };

struct error_stack {
    gyre_status status;
    int depth;
    int holds;
    char frames[FRAMES][FRAME_SIZE];
    char joined[FRAMES * FRAME_SIZE];
};

static _Thread_local struct error_stack stack;

__attribute__((format(printf, 2, 0))) static void write_frame(int index, const char *format, va_list args)
{
    vsnprintf(stack.frames[index], FRAME_SIZE, format, args);
}

gyre_status gyre_error_set(gyre_status status, const char *format, ...)
{
    va_list args;
    if (stack.holds > 0)
        return status;
    stack.status = status;
    stack.depth = 1;
    va_start(args, format);
    write_frame(0, format, args);
    va_end(args);
    return status;
}

gyre_status gyre_error_set_text(gyre_status status, const char *sentence)
{
    if (stack.holds > 0)
        return status;
    size_t length = strnlen(sentence, FRAME_SIZE - 1);
    stack.status = status;
    stack.depth = 1;
    memcpy(stack.frames[0], sentence, length);
    stack.frames[0][length] = '\0';
    return status;
}

gyre_status gyre_error_add(gyre_status status, const char *format, ...)
{
    va_list args;
    if (stack.holds > 0)
        return status;
    va_start(args, format);
    if (stack.depth < FRAMES)
        stack.depth++;
    write_frame(stack.depth - 1, format, args);
    va_end(args);
    stack.status = status;
    return status;
}

void gyre_error_clear(void)
{
    if (stack.holds > 0)
        return;
    stack.status = GYRE_OK;
    stack.depth = 0;
}

void gyre_error_hold(void)
{
    stack.holds++;
}

void gyre_error_let_go(void)
{
    stack.holds--;
}

gyre_status gyre_error_status(void)
{
    return stack.status;
}

const char *gyre_error_text(void)
{
    size_t used = 0;
    stack.joined[0] = '\0';
    for (int i = stack.depth - 1; i >= 0; i--) {
        int n =
            snprintf(stack.joined + used, sizeof stack.joined - used, "%s%s", stack.frames[i], i ? ": " : "");
        if (n < 0 || (size_t)n >= sizeof stack.joined - used)
            break;
        used += (size_t)n;
    }
    return stack.joined;
}

const char *gyre_error_cause(void)
{
    return stack.depth ? stack.frames[0] : "";
}

gyre_status gyre_error_add_overdue(gyre_status status, uint64_t deadline_ns)
{
    const uint64_t seconds = 10; /* a wait that began before its deadline ends sooner than this after it */
    const uint64_t now = status == GYRE_TIMEOUT ? gyre_clock_ns() : 0;
    if (status != GYRE_TIMEOUT || deadline_ns == GYRE_NO_WAIT || deadline_ns >= now ||
        now - deadline_ns < seconds * 1000000000)
        return status;
    return gyre_error_add(
        status,
        "the deadline, %llu, lay %.0f s in the past before the call: a deadline is a time, as "
        "gyre_in_ms(5000) gives, and no number of milliseconds",
        (unsigned long long)deadline_ns, (double)(now - deadline_ns) / 1e9);
}

gyre_status gyre_error_arguments(const char *call, const struct gyre_argument *arguments)
{
    while (arguments->name && arguments->given)
        arguments++;
    if (!arguments->name)
        return GYRE_OK;
    const char *member = strstr(arguments->name, "->size");
    if (member)
        return gyre_error_set(
            GYRE_INVALID,
            "%s: the size of '%.*s' is not set: a descriptor begins with it, as in `.size = sizeof "
            "%.*s`",
            call, (int)(member - arguments->name), arguments->name, (int)(member - arguments->name),
            arguments->name);
    return gyre_error_set(GYRE_INVALID, "%s: '%s' is NULL", call, arguments->name);
}
