/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sentences of findings (cpu_finding.h). Places come from addr2line, whose answers are kept: a handler that goes
 * wrong does so for many messages.
 */
#include "backends/cpu/check/cpu_finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/check/cpu_fields.h"
#include "backends/cpu/check/cpu_place.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"

enum { TEXT_MAX = 160, SOURCE_MAX = 72, REQUEST_MAX = 3072 };

static struct cpu_checks *checks_of(const struct cpu_worker *worker)
{
    return worker->resident->device->checks;
}

/* ---- places ---- */

/* Without addr2line the place is the kernel's declaration. */
static const char *place_of(const struct cpu_worker *worker, const void *code)
{
    struct cpu_checks *const checks = checks_of(worker);
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    uint32_t i = 0;
    while (i < CPU_PLACES_MAX && checks->places[i].code != code)
        i++;
    if (i < CPU_PLACES_MAX)
        return checks->places[i].place;
    i = checks->place_turn++ % CPU_PLACES_MAX;
    checks->places[i].code = code;
    if (!cpu_place_ask(worker->resident->device->host, code, checks->places[i].place,
                       sizeof checks->places[i].place))
        snprintf(checks->places[i].place, sizeof checks->places[i].place, "%s:%u", kernel->file,
                 kernel->line);
    return checks->places[i].place;
}

/* Writes " (`scratch->sum[i] += 1;`)", the source line at a place; nothing when it cannot be read. */
static void quote_source(const char *place, char *text, size_t size)
{
    char path[320], line[512];
    const char *const colon = strrchr(place, ':');
    text[0] = '\0';
    if (!colon || (size_t)(colon - place) >= sizeof path)
        return;
    snprintf(path, sizeof path, "%.*s", (int)(colon - place), place);
    if (!cpu_place_read(path, (uint32_t)strtoul(colon + 1, NULL, 10), line, sizeof line))
        return;
    const char *const begin = line + strspn(line, " \t");
    size_t length = strcspn(begin, "\n");
    length = length < SOURCE_MAX ? length : SOURCE_MAX;
    snprintf(text, size, " (`%.*s`)", (int)length, begin);
}

/* Writes "scan.gyre.c:12", or "scan.gyre.c:12 and 14" for two lines of one file. */
static void write_lines(char *text, size_t size, const char *first, const char *second)
{
    const char *const a = cpu_place_short(first), *const b = cpu_place_short(second);
    const char *const colon = strrchr(a, ':');
    const size_t file = colon ? (size_t)(colon - a) + 1 : 0;
    if (strcmp(a, b) == 0)
        snprintf(text, size, "%s", a);
    else
        snprintf(text, size, "%s and %s", a, file && strncmp(a, b, file) == 0 ? b + file : b);
}

/* ---- memory ---- */

static const gyre_type *type_of(const gyre_cpu_kernel *kernel, uint32_t sort)
{
    return sort == GYRE_SORT_REPLY     ? kernel->reply
           : sort == GYRE_SORT_REQUEST ? kernel->request
           : sort == GYRE_SORT_STATE   ? kernel->state
                                       : NULL;
}

static void write_bytes(char *text, size_t size, const char *what, uint64_t first, uint64_t count)
{
    if (count == 1)
        snprintf(text, size, "byte %" PRIu64 " of the %s", first, what);
    else
        snprintf(text, size, "bytes %" PRIu64 " to %" PRIu64 " of the %s", first, first + count - 1, what);
}

/* Writes what lies at `skip` bytes behind the begin of the access: "state->counts[3]", "bytes 4 to 7 of the scratch". */
static void write_memory(const struct cpu_worker *worker, const struct cpu_touch *touch, uint64_t skip,
                         char *text, size_t size)
{
    static const char *const words[] = {"memory", "request", "reply",        "scratch",
                                        "state",  "buffer",  "flow's memory"};
    const gyre_cpu_range *const range = touch->range;
    const gyre_type *type = type_of(worker->resident->kernel, range->sort);
    uint64_t offset = (uint64_t)((const gyre_u8 *)touch->at - range->from) + skip, front = 0;
    char field[96];
    if (type)
        type = cpu_fields_chosen(type, worker->watched->request, &front);
    offset -= offset >= front ? front : 0;
    if (range->sort == GYRE_SORT_BUFFER)
        snprintf(text, size, "item %" PRIu64 " of buffer '%.*s'", offset / range->item, (int)range->length,
                 range->name);
    else if (type && cpu_fields_name(type, offset, field, sizeof field))
        snprintf(text, size, "%s->%s", words[range->sort], field);
    else
        write_bytes(text, size, words[range->sort], offset, touch->size - skip);
}

static const char *verb_of(bool write, bool atomic)
{
    return write ? (atomic ? "changes (atomically)" : "writes") : atomic ? "reads (atomically)" : "reads";
}

/* ---- telling ---- */

/* Whether the log has this pair of instructions already, or has no room for it. */
static bool is_known(const struct cpu_checks *checks, const void *first, const void *second)
{
    for (uint32_t i = 0; i < checks->pair_count; i++)
        if (checks->pairs[i][0] == first && checks->pairs[i][1] == second)
            return true;
    return checks->pair_count == CPU_PAIRS_MAX;
}

/* As is_known, and notes the pair. */
static bool was_told(struct cpu_checks *checks, const void *first, const void *second)
{
    if (is_known(checks, first, second))
        return true;
    checks->pairs[checks->pair_count][0] = first;
    checks->pairs[checks->pair_count++][1] = second;
    return false;
}

bool cpu_finding_was_told(const struct cpu_worker *worker, const void *place, uint32_t line)
{
    return was_told(checks_of(worker), place, (const void *)(uintptr_t)line);
}

/* Writes the request as JSON; where that is not possible, its type and size. */
static void write_request(const struct cpu_worker *worker, char *text, size_t size)
{
    const struct cpu_watched *const watched = worker->watched;
    const gyre_type *const type = worker->resident->kernel->request;
    uint64_t skip, length = watched->request_size;
    if (cpu_fields_json(type, watched->request, watched->request, text, size))
        return;
    const gyre_type *const chosen = cpu_fields_chosen(type, watched->request, &skip);
    if (chosen->field_types && strncmp(chosen->fields, "gyre_used gyre_used;", 20) == 0) {
        uint32_t used; /* the length of a message with a tail, which begins with it */
        memcpy(&used, (const unsigned char *)watched->request + skip, sizeof used);
        length = used;
    } else if (chosen != type) {
        length = chosen->size;
    }
    snprintf(text, size, "a message '%s' of %" PRIu64 " bytes", chosen->name, length);
}

/* Logs the sentence, with the request behind it. */
static void log_finding(const struct cpu_worker *worker, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void log_finding(const struct cpu_worker *worker, const char *check, const char *format, ...)
{
    struct cpu_checks *const checks = checks_of(worker);
    const gyre_host *const host = worker->resident->device->host;
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    char request[REQUEST_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(checks->said, sizeof checks->said, format, args);
    va_end(args);
    write_request(worker, request, sizeof request);
    const int length =
        snprintf(checks->sentence, sizeof checks->sentence, "kernel '%s': check %s: %s; request: %s",
                 kernel->name, check, checks->said, request);
    if (worker->watched->seed && length > 0 && (size_t)length < sizeof checks->sentence)
        snprintf(checks->sentence + length, sizeof checks->sentence - (size_t)length, "; seed: %" PRIu64,
                 worker->watched->seed);
    host->log(host->context, GYRE_LOG_WARNING, checks->sentence);
}

/* Fails the message with the first finding, whichever lane it is of. */
static void fail_message(gyre_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fail_message(gyre_context *context, const char *format, ...)
{
    struct cpu_worker *const worker = context->owner;
    va_list args;
    if (context->failed)
        return;
    if (!worker->watched->text[0]) {
        va_start(args, format);
        vsnprintf(worker->watched->text, sizeof worker->watched->text, format, args);
        va_end(args);
    }
    context->failed = 1;
    context->fail_code = GYRE_FAILURE_FINDING;
    context->fail_text = worker->watched->text;
}

/* The lane's number; in a grid of several blocks that of gyre_grid_lane. */
static uint32_t lane_of(const gyre_context *context)
{
    const struct cpu_worker *const worker = context->owner;
    return worker->lanes ? cpu_lanes_number(context) : context->lane;
}

/* The barrier that would order two lanes. */
static const char *barrier_of(const struct cpu_worker *worker, uint32_t one, uint32_t other)
{
    const struct gyre_resident *const resident = worker->resident;
    return resident->together > 1 && one / resident->lanes != other / resident->lanes ? "barrier of the grid"
                                                                                      : "barrier";
}

/* A race of two lanes of one message. */
static void tell_lanes(gyre_context *context, const struct cpu_touch *touch,
                       const struct cpu_earlier *earlier, const char *there, const char *here)
{
    const struct cpu_worker *const worker = context->owner;
    char memory[TEXT_MAX], lines[TEXT_MAX], now[SOURCE_MAX + 8], before[SOURCE_MAX + 8];
    write_lines(lines, sizeof lines, there, here);
    fail_message(context, "%s: race, lanes %u %u", lines, earlier->lane, lane_of(context));
    if (was_told(checks_of(worker), earlier->code, touch->code))
        return;
    quote_source(here, now, sizeof now);
    quote_source(there, before, sizeof before);
    write_memory(worker, touch, earlier->address, memory, sizeof memory);
    log_finding(worker, "races", "lane %u %s %s at %s%s, lane %u %s it at %s%s, and no %s is between the two",
                lane_of(context), verb_of(touch->how & GYRE_TOUCH_WRITES, touch->how & GYRE_TOUCH_ATOMIC),
                memory, here, now, earlier->lane, verb_of(earlier->write, earlier->atomic), there, before,
                barrier_of(worker, lane_of(context), earlier->lane));
}

/* A race of two messages. */
static void tell_messages(gyre_context *context, const struct cpu_touch *touch,
                          const struct cpu_earlier *earlier, const char *there, const char *here)
{
    const struct cpu_worker *const worker = context->owner;
    struct cpu_checks *const checks = checks_of(worker);
    const struct cpu_handled *const other = &checks->handled[earlier->message % CPU_HANDLED_MAX];
    char memory[TEXT_MAX], lines[TEXT_MAX], now[SOURCE_MAX + 8], before[SOURCE_MAX + 8], whose[TEXT_MAX] = "";
    write_lines(lines, sizeof lines, there, here);
    fail_message(context, "%s: race, two messages", lines);
    if (was_told(checks, earlier->code, touch->code))
        return;
    quote_source(here, now, sizeof now);
    quote_source(there, before, sizeof before);
    write_memory(worker, touch, earlier->address, memory, sizeof memory);
    if (other->message == earlier->message)
        snprintf(whose, sizeof whose, " of kernel '%s', block %u,", other->kernel, other->block);
    log_finding(
        worker, "races",
        "a message of block %u %s %s at %s%s, another one%s %s it at %s%s, and both may run at once: both "
        "requests were there before either was handled",
        worker->block, verb_of(touch->how & GYRE_TOUCH_WRITES, touch->how & GYRE_TOUCH_ATOMIC), memory, here,
        now, whose, verb_of(earlier->write, earlier->atomic), there, before);
}

void cpu_finding_race(gyre_context *context, const struct cpu_touch *touch, const struct cpu_earlier *earlier)
{
    const struct cpu_worker *const worker = context->owner;
    char there[320], here[320];
    snprintf(there, sizeof there, "%s", place_of(worker, earlier->code));
    snprintf(here, sizeof here, "%s", place_of(worker, touch->code));
    if (earlier->message == worker->watched->message)
        tell_lanes(context, touch, earlier, there, here);
    else
        tell_messages(context, touch, earlier, there, here);
}

/* Who emitted the request and did not write the bytes, and where it wrote others. */
static void write_sender(const struct cpu_worker *worker, char *text, size_t size)
{
    const uint64_t sender = worker->watched->sender;
    const struct cpu_handled *const other = &checks_of(worker)->handled[sender % CPU_HANDLED_MAX];
    char kernel[64] = "the kernel", place[TEXT_MAX + SOURCE_MAX + 320];
    if (other->message == sender)
        snprintf(kernel, sizeof kernel, "kernel '%s'", other->kernel);
    cpu_finding_place(worker, worker->watched->sender_code, place, sizeof place);
    snprintf(text, size, "%s, which emitted it and wrote to it last at %s, did not write that", kernel,
             place);
}

uint32_t cpu_finding_lane(const gyre_context *context)
{
    return lane_of(context);
}

void cpu_finding_unwritten_scratch(struct cpu_worker *worker, const struct cpu_touch *later, uint32_t lane)
{
    const struct cpu_unwritten *const unwritten = &worker->watched->unwritten;
    char memory[TEXT_MAX], place[SOURCE_MAX + 336], written[SOURCE_MAX + 400] = "", lines[TEXT_MAX],
                                                                         here[320];
    snprintf(here, sizeof here, "%s", place_of(worker, unwritten->touch.code));
    cpu_finding_place(worker, unwritten->touch.code, place, sizeof place);
    write_memory(worker, &unwritten->touch, 0, memory, sizeof memory);
    if (later) {
        char there[SOURCE_MAX + 336];
        cpu_finding_place(worker, later->code, there, sizeof there);
        snprintf(written, sizeof written, "; lane %u writes it later, at %s", lane, there);
        write_lines(lines, sizeof lines, here, place_of(worker, later->code));
        if (strstr(worker->watched->text, ": unwritten scratch"))
            snprintf(worker->watched->text, sizeof worker->watched->text, "%s: unwritten scratch", lines);
    }
    log_finding(worker, "memory", "lane %u reads %s at %s, and no lane wrote it for this message before%s",
                unwritten->lane, memory, place, written);
}

bool cpu_finding_unwritten(gyre_context *context, const struct cpu_touch *touch)
{
    const struct cpu_worker *const worker = context->owner;
    char memory[TEXT_MAX], place[SOURCE_MAX + 336], lines[TEXT_MAX], whose[1024], here[320];
    const uint32_t sort = touch->range->sort;
    snprintf(here, sizeof here, "%s", place_of(worker, touch->code));
    write_lines(lines, sizeof lines, here,
                sort == GYRE_SORT_REQUEST ? place_of(worker, worker->watched->sender_code) : here);
    fail_message(context, "%s: unwritten %s", lines,
                 sort == GYRE_SORT_SCRATCH   ? "scratch"
                 : sort == GYRE_SORT_REQUEST ? "request"
                                             : "reply");
    if (was_told(checks_of(worker), touch->code, NULL))
        return false;
    if (sort == GYRE_SORT_SCRATCH)
        return true;
    cpu_finding_place(worker, touch->code, place, sizeof place);
    write_memory(worker, touch, 0, memory, sizeof memory);
    if (sort == GYRE_SORT_REQUEST)
        write_sender(worker, whose, sizeof whose);
    else
        snprintf(whose, sizeof whose, "no lane wrote it for this message before");
    log_finding(worker, "memory", "lane %u reads %s at %s, and %s", lane_of(context), memory, place, whose);
    return false;
}

/* ---- barriers ---- */

/* With the source line, unless the barrier is inside of a function of the dialect, whose place is the handler's line that calls it. */
void cpu_finding_barrier(const struct cpu_worker *worker, const char *place, const void *code, char *text,
                         size_t size)
{
    char source[SOURCE_MAX + 8] = "";
    const char *const whole = code ? place_of(worker, code) : place;
    const bool same = strcmp(cpu_place_short(whole), cpu_place_short(place)) == 0;
    if (same)
        quote_source(whole, source, sizeof source);
    snprintf(text, size, "%s%s", same ? whole : place, source);
}

/* Adds "lanes 0 to 6 wait at FILE:LINE (`...`)" for the lanes from `first` up to `end`, which do the same. */
static void add_lanes(const struct cpu_worker *worker, char *text, size_t size, const char *place,
                      uint32_t first, uint32_t end)
{
    const size_t used = strlen(text);
    char where[SOURCE_MAX + 336] = "", source[SOURCE_MAX + 8] = "", lanes[48];
    const void *const latest = worker->watched->latest[first];
    const bool one = end == first + 1;
    const char *what = one ? "waits at " : "wait at ";
    if (one)
        snprintf(lanes, sizeof lanes, "lane %u", first);
    else
        snprintf(lanes, sizeof lanes, "lanes %u to %u", first, end - 1);
    if (place) {
        cpu_finding_barrier(worker, place, latest, where, sizeof where);
    } else if (latest) {
        what = "ended after ";
        quote_source(place_of(worker, latest), source, sizeof source);
        snprintf(where, sizeof where, "%s%s", place_of(worker, latest), source);
    } else {
        what = "ended without touching shared memory";
    }
    snprintf(text + used, size - used, "%s%s %s%s", used ? ", " : "", lanes, what, where);
}

static bool do_the_same(const struct cpu_worker *worker, const char *const *places, uint32_t a, uint32_t b)
{
    if (places[a] && places[b])
        return strcmp(places[a], places[b]) == 0;
    return !places[a] && !places[b] && worker->watched->latest[a] == worker->watched->latest[b];
}

/* Writes a shorter text than that of cpu_lane.c, whose lines are cut off: the lines first. */
static void shorten_text(gyre_context *context, const char *const *places, uint32_t waiting, uint32_t other)
{
    char lines[TEXT_MAX];
    write_lines(lines, sizeof lines, places[waiting], places[other] ? places[other] : places[waiting]);
    context->failed = 0;
    fail_message(context, places[other] ? "%s: lanes %u %u wait" : "%s: lane %u waits, %u ended", lines,
                 waiting, other);
    context->fail_code = GYRE_FAILURE_BARRIER;
}

void cpu_finding_deadlock(gyre_context *context, const char *const *places, uint32_t count)
{
    const struct cpu_worker *const worker = context->owner;
    char groups[1536] = "";
    uint32_t waiting = 0, other = 0;
    while (!places[waiting]) /* one waits at least: that is why this is called */
        waiting++;
    while (places[other] && strcmp(places[other], places[waiting]) == 0)
        other++;
    shorten_text(context, places, waiting, other);
    /* a lane that left by an index out of range meets no barrier: that is told already */
    if (worker->watched->has_left || was_told(checks_of(worker), places[waiting], worker->resident->kernel))
        return;
    for (uint32_t first = 0, end = 1; first < count; first = end, end++) {
        while (end < count && do_the_same(worker, places, first, end))
            end++;
        add_lanes(worker, groups, sizeof groups, places[first], first, end);
    }
    log_finding(worker, "deadlock", "the lanes of the block do not meet at one barrier: %s", groups);
}

/* ---- handlers that wait for each other ---- */

void cpu_finding_memory(const struct cpu_worker *worker, const struct cpu_touch *touch, char *text,
                        size_t size)
{
    write_memory(worker, touch, 0, text, size);
}

void cpu_finding_place(const struct cpu_worker *worker, const void *code, char *text, size_t size)
{
    char source[SOURCE_MAX + 8];
    const char *const place = place_of(worker, code);
    quote_source(place, source, sizeof source);
    snprintf(text, size, "%s%s", place, source);
}

void cpu_finding_add_waiter(const struct cpu_worker *worker, const void *code, const char *what, char *list,
                            size_t size)
{
    const size_t used = strlen(list);
    const char *const place = place_of(worker, code);
    char source[SOURCE_MAX + 8];
    quote_source(place, source, sizeof source);
    snprintf(list + used, size - used, "%s'%s' block %u waits at %s%s for another value of %s",
             used ? ", " : "", worker->resident->kernel->name, worker->block, place, source, what);
}

void cpu_finding_waiters(const struct cpu_worker *worker, const char *list)
{
    log_finding(
        worker, "deadlock",
        "nobody can go on: %s; what they look at was the same %" PRIu64
        " times in turn (for a loop that counts its looks and gives up later, set backend.cpu.looks higher)",
        list, worker->resident->device->settings.looks);
}

void cpu_finding_stuck(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    context->failed =
        0; /* also where the check of races told something: this says why the handler did not end */
    fail_message(context, "%s: deadlock, waits for ever", cpu_place_short(place_of(worker, code)));
}

/* ---- ports ---- */

void cpu_finding_emits(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    char place[SOURCE_MAX + 336];
    if (context->failed)
        return;
    fail_message(context, "%s: lane %u emits", cpu_place_short(place_of(worker, code)), lane_of(context));
    context->fail_code = GYRE_FAILURE_PORT;
    if (was_told(checks_of(worker), code, worker->resident->kernel))
        return;
    cpu_finding_place(worker, code, place, sizeof place);
    log_finding(worker, "any", "lane %u emits at %s, and only lane 0 does%s", lane_of(context), place,
                worker->resident->grid ? ", that of block 0" : " in a block kernel");
}

/* Writes "lane 1 ended after FILE:12 (`...`)", or where the lane asked for another call. */
static void write_end(const struct cpu_worker *worker, uint32_t lane, char *text, size_t size)
{
    const struct cpu_watched *const watched = worker->watched;
    char place[SOURCE_MAX + 336] = "without touching shared memory";
    const void *const code = watched->more[lane] ? watched->more[lane] : watched->latest[lane];
    if (code)
        cpu_finding_place(worker, code, place, sizeof place);
    snprintf(text, size, "lane %u %s%s", lane,
             watched->more[lane] ? "returns it at "
             : code              ? "ended after "
                                 : "ended ",
             place);
}

void cpu_finding_more(gyre_context *context, uint32_t asked)
{
    const struct cpu_worker *const worker = context->owner;
    const struct gyre_resident *const resident = worker->resident;
    const void *const *const more = worker->watched->more;
    const uint32_t lanes = resident->lanes * resident->together;
    char one[SOURCE_MAX + 400], other[SOURCE_MAX + 400];
    uint32_t with = 0, without = 0;
    fail_message(context, "%u of %u lanes return GYRE_MORE", asked, lanes);
    if (was_told(checks_of(worker), resident->kernel, worker))
        return;
    while (with < lanes - 1 && !more[with])
        with++;
    while (without < lanes - 1 && more[without])
        without++;
    write_end(worker, with, one, sizeof one);
    write_end(worker, without, other, sizeof other);
    log_finding(
        worker, "any",
        "%u of the %u lanes that share the message return GYRE_MORE, and the others do not (%s, %s): either all "
        "return it or none",
        asked, lanes, one, other);
}

/* ---- orders ---- */

static void write_result(const struct cpu_worker *worker, int result, const void *reply, char *text,
                         size_t size)
{
    const gyre_type *const type = worker->resident->kernel->reply;
    if (result == GYRE_OUTCOME_FAILED)
        snprintf(text, size, "a failure");
    else if (result != GYRE_OUTCOME_REPLY)
        snprintf(text, size, "no reply");
    else if (!cpu_fields_json(type, worker->watched->request, reply, text, size))
        snprintf(text, size, "a reply of other bytes");
}

/*
 * Where lanes were left, with a limit of switches; without one there are too many. "; seed 7 leaves lane 0 at FILE:12 (`...`) for lane 1,
 * ...".
 */
static void write_switches(const struct cpu_worker *worker, const struct cpu_difference *difference,
                           char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < 2 && worker->resident->device->settings.switches; i++)
        for (uint64_t j = 0; j < difference->switches[i].count && j < CPU_SWITCHES_KEPT; j++) {
            const struct cpu_switch *const one = &difference->switches[i].first[j];
            char place[320];
            cpu_finding_place(worker, one->code, place, sizeof place);
            if (j == 0)
                used += (size_t)snprintf(text + used, size - used, "; seed %" PRIu64 " leaves",
                                         difference->seeds[i]);
            if (used < size)
                used += (size_t)snprintf(text + used, size - used, "%s lane %u before %s for lane %u",
                                         j ? "," : "", one->from, place, one->to);
            if (used >= size)
                return;
        }
}

bool cpu_finding_order_was_told(const struct cpu_worker *worker)
{
    return is_known(checks_of(worker), worker->resident->kernel, worker->resident->kernel);
}

void cpu_finding_order(gyre_context *context, const struct cpu_difference *difference)
{
    const struct cpu_worker *const worker = context->owner;
    const gyre_cpu_kernel *const kernel = worker->resident->kernel;
    char results[2][900], switches[2400];
    context->failed = 0; /* also where one of the runs failed: this says why */
    fail_message(context, "differs with the order: seeds %" PRIu64 ", %" PRIu64, difference->seeds[0],
                 difference->seeds[1]);
    if (was_told(checks_of(worker), kernel, kernel))
        return;
    for (int i = 0; i < 2; i++)
        write_result(worker, difference->results[i], difference->replies[i], results[i], sizeof results[i]);
    write_switches(worker, difference, switches, sizeof switches);
    if (strcmp(results[0], results[1]) == 0)
        log_finding(
            worker, "schedule",
            "the order in which lanes run decides what is in the state or in buffers afterwards: it differs "
            "with seeds %" PRIu64 " and %" PRIu64 ", and both end with %s%s%s",
            difference->seeds[0], difference->seeds[1], results[0], difference->why, switches);
    else
        log_finding(worker, "schedule",
                    "the order in which lanes run decides the result: seed %" PRIu64
                    " ends with %s, seed %" PRIu64 " with %s%s%s",
                    difference->seeds[0], results[0], difference->seeds[1], results[1], difference->why,
                    switches);
}

void cpu_finding_begin(struct cpu_worker *worker)
{
    const struct cpu_watched *const watched = worker->watched;
    const size_t lanes = (size_t)worker->resident->lanes * worker->resident->together;
    if (watched && watched->latest)
        memset(watched->latest, 0, 2 * lanes * sizeof *watched->latest);
}
