/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the error sentence when a handler that was compiled with checks uses an index out of range: which
 * array, buffer or part, which index, and where. The array's name is read from the source, because compilers
 * tell only its place and its type. addr2line tells the place of an access to a buffer. The worker's thread
 * calls this file while a handler runs.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/check/cpu_place.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"

/* ---- the name of an array ---- */

/*
 * Finds the begin of the indexed expression, back from the '[' of the index: "reply->sums" in "a +
 * reply->sums[i]".
 */
static const char *begin_of_name(const char *line, const char *bracket)
{
    const char *at = bracket;
    int depth = 0;
    for (; at > line; at--) {
        const char before = at[-1];
        if (before == ']') {
            depth++;
        } else if (before == '[') {
            if (depth-- == 0)
                break;
        } else if (depth == 0 && !isalnum((unsigned char)before) && before != '_' && before != '.' &&
                   !(before == '>' && at - 1 > line && at[-2] == '-') && !(before == '-' && *at == '>'))
            break;
    }
    return at;
}

/* Reads the array's name. gcc tells the column of the '[', clang the column where the expression begins. */
static bool name_from_source(const gyre_cpu_fault *fault, char *name, size_t size)
{
    char line[1024];
    if (!fault->file || !cpu_place_read(fault->file, fault->line, line, sizeof line) || fault->column == 0 ||
        fault->column > strlen(line))
        return false;
    const char *const bracket = strchr(line + fault->column - 1, '[');
    const char *const begin = bracket ? begin_of_name(line, bracket) : NULL;
    if (!begin || begin == bracket)
        return false;
    snprintf(name, size, "%.*s", (int)(bracket - begin), begin);
    return true;
}

/* ---- the place of an access ---- */

/*
 * Returns the place of the access. addr2line is asked once for each instruction, because a kernel that goes
 * wrong does so for many messages. Without addr2line the place is the kernel's declaration.
 */
static const char *place_of(struct cpu_worker *worker, const void *at)
{
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    if (worker->fault.at == at)
        return worker->fault.place;
    if (!cpu_place_ask(worker->resident->device->host, at, worker->fault.place, sizeof worker->fault.place))
        snprintf(worker->fault.place, sizeof worker->fault.place, "%s:%u", kernel->file, kernel->line);
    worker->fault.at = at;
    return worker->fault.place;
}

/* ---- the sentence ---- */

/* Returns the last name of an expression ("sums" of "reply->sums"), because a failure's text is short. */
static const char *last_name(const char *name)
{
    const char *last = name;
    for (; *name; name++)
        if (*name == '.' || *name == '>')
            last = name + 1;
    return last;
}

/* The sentence for the log, which adds the index. */
static void tell(const gyre_cpu_fault *fault, const char *place, const char *name, char *sentence,
                 size_t size)
{
    if (fault->count == GYRE_CPU_COUNT_NULL)
        snprintf(sentence, size,
                 "%s: an access through NULL, which gyre_emit gives when the port has no place left for this "
                 "call, and gyre_items for an empty part; byte:",
                 place);
    else if (fault->count == GYRE_CPU_COUNT_UNKNOWN)
        snprintf(sentence, size, "%s: an atomic operation behind the last item of '%s', by items:", place,
                 name);
    else
        snprintf(sentence, size, "%s: '%s' has %llu items and none of the index that was asked for:", place,
                 name, (unsigned long long)fault->count);
}

/* The text of the failure. */
static void tell_shortly(const gyre_cpu_fault *fault, const char *place, const char *name, char *text,
                         size_t size)
{
    if (fault->count == GYRE_CPU_COUNT_NULL)
        snprintf(text, size, "%s: through NULL, byte %lld", cpu_place_short(place), (long long)fault->index);
    else if (fault->count == GYRE_CPU_COUNT_UNKNOWN)
        snprintf(text, size, "%s: beyond the end of %s", cpu_place_short(place), last_name(name));
    else
        snprintf(text, size, "%s: index %lld of %s[%llu]", cpu_place_short(place), (long long)fault->index,
                 last_name(name), (unsigned long long)fault->count);
}

/*
 * Nobody gets the failure of a hook of a keyed actor, such as a reminder: the log has to have it, once for each place. A worker that is
 * in a hook is at no message, so it does not have the lock of the checks.
 */
static void tell_hook(const struct cpu_worker *worker, const gyre_cpu_fault *fault, const char *sentence)
{
    const struct gyre_device *const device = worker->resident->device;
    char text[768];
    if (!worker->watched || worker->watched->message)
        return;
    pthread_mutex_lock(&device->checks->lock);
    const bool told = fault->file ? cpu_finding_was_told(worker, fault->file, fault->line)
                                  : cpu_finding_was_told(worker, fault->at, 0);
    pthread_mutex_unlock(&device->checks->lock);
    if (told)
        return;
    snprintf(text, sizeof text,
             "kernel '%s': check memory: in a hook, such as GYRE_BORN or GYRE_REMINDED: %s %lld",
             worker->resident->kernel->name, sentence, (long long)fault->index);
    device->host->log(device->host->context, GYRE_LOG_WARNING, text);
}

void cpu_checked_refuse(gyre_context *context, const gyre_cpu_fault *fault)
{
    struct cpu_worker *const worker = context->owner;
    char place[sizeof worker->fault.place], name[128], sentence[512];
    if (fault->file)
        snprintf(place, sizeof place, "%s:%u", fault->file, fault->line);
    else
        snprintf(place, sizeof place, "%s", place_of(worker, fault->at));
    if (fault->name)
        snprintf(name, sizeof name, "%s", fault->name);
    else if (!name_from_source(fault, name, sizeof name))
        snprintf(name, sizeof name, "%s", fault->type);
    tell(fault, place, name, sentence, sizeof sentence);
    context->services->log(context, sentence, fault->index);
    tell_hook(worker, fault, sentence);
    if (worker->watched)
        worker->watched->has_left = true;
    if (context->failed)
        return;
    tell_shortly(fault, place, name, worker->fault.text, sizeof worker->fault.text);
    context->failed = 1;
    context->fail_code = fault->code;
    context->fail_text = worker->fault.text;
}
