/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the accesses of two runs (call_accesses.h). The same access of both is the one of the same lane, of a message of the same request
 * from the same sender, at the same place of the code to the same memory, after as many such ones.
 */
#include "cli/calls/call_accesses.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/process.h"
#include "gyre/dialect/cpu_watch.h"
#include "gyre/waiting.h"

enum { ACCESSES_MAX = 8192, PLACE_SIZE = 640, SOURCE_MAX = 72 };
/* The time that addr2line may take to read the debug information of one kernel file. */
#define PLACE_DEADLINE_NS UINT64_C(10000000000)

/* What is between the tabs of a line of the file. */
enum field {
    MARK,
    KERNEL,
    SENDER,
    INDEX,
    MESSAGE,
    LANE,
    HOW,
    ADDRESS,
    SIZE,
    VALUE,
    OLDER, /* 1: it was there before the latest one */
    OFFSET,
    MODULE,
    MEMORY,
    FIELDS
};

typedef struct access_line {
    char *line; /* the texts lie in it */
    const char *fields[FIELDS];
    uint64_t index, message, how, address, size, value; /* message: a number of its bytes */
    bool finds_older;
    uint64_t writer; /* a number of who does it: kernel, request and place in the code */
    uint64_t same;   /* a number of all that makes accesses of two runs the same one */
} access_line;

typedef struct accesses {
    access_line *all;
    size_t count;
} accesses;

/* ---- reading ---- */

static uint64_t add_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* Takes the line apart, which is the access's from then on. False when it is of another kind, or damaged. */
static bool read_access(char *line, access_line *one)
{
    static const enum field writer[] = {KERNEL, SENDER, INDEX, OFFSET, MODULE}, same[] = {LANE, MEMORY};
    char *at = line;
    one->line = line;
    for (int i = 0; i < FIELDS; i++) {
        one->fields[i] = strsep(&at, "\t\n");
        if (!one->fields[i])
            return false;
    }
    one->index = strtoull(one->fields[INDEX], NULL, 10);
    one->message = strtoull(one->fields[MESSAGE], NULL, 16);
    one->how = strtoull(one->fields[HOW], NULL, 10);
    one->address = strtoull(one->fields[ADDRESS], NULL, 10);
    one->size = strtoull(one->fields[SIZE], NULL, 10);
    one->value = strtoull(one->fields[VALUE], NULL, 16);
    one->finds_older = one->fields[OLDER][0] == '1';
    one->writer = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof writer / sizeof *writer; i++)
        one->writer = add_text(one->writer, one->fields[writer[i]]);
    one->same = one->writer;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        one->same = add_text(one->same, one->fields[same[i]]);
    return strcmp(one->fields[MARK], "@") == 0;
}

static accesses read_accesses(const char *path)
{
    accesses read = {calloc(ACCESSES_MAX, sizeof *read.all), 0};
    FILE *const file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    while (file && read.all && read.count < ACCESSES_MAX && getline(&line, &room, file) > 0) {
        if (line[0] != '@' || !read_access(line, &read.all[read.count]))
            continue;
        read.count++;
        line = NULL;
        room = 0;
    }
    free(line);
    if (file)
        fclose(file);
    return read;
}

static void free_accesses(accesses *read)
{
    for (size_t i = 0; i < read->count; i++)
        free(read->all[i].line);
    free(read->all);
}

/* ---- comparing ---- */

/* The access of the other run that is the same as this one; NULL: there is none. */
static const access_line *find_same(const accesses *run, const accesses *other, const access_line *one)
{
    size_t before = 0;
    for (const access_line *at = run->all; at < one; at++)
        before += at->same == one->same;
    for (size_t i = 0; i < other->count; i++)
        if (other->all[i].same == one->same && before-- == 0)
            return &other->all[i];
    return NULL;
}

/* The latest write to bytes of the access before `end`; NULL: nobody wrote them. */
static const access_line *find_writer(const accesses *run, const access_line *end, const access_line *one)
{
    while (end > run->all) {
        end--;
        if (end->how & GYRE_TOUCH_WRITES && end->address < one->address + one->size &&
            one->address < end->address + end->size)
            return end;
    }
    return NULL;
}

static bool is_same_writer(const access_line *a, const access_line *b)
{
    return a == b || (a && b && a->writer == b->writer && a->message == b->message);
}

/* ---- telling ---- */

/* Writes "FILE:12 (`...`)"; without addr2line, which comes with the linker, what it would be asked for. */
static void write_place(const access_line *one, FILE *out)
{
    char address[64], place[PLACE_SIZE] = "", source[512];
    snprintf(address, sizeof address, "0x%.48s", one->fields[OFFSET]);
    const char *const arguments[] = {"addr2line", "-e", one->fields[MODULE], address, NULL};
    const struct gyre_process_desc asked = {.arguments = arguments,
                                            .no_preload = true,
                                            .deadline_ns = gyre_clock_ns() + PLACE_DEADLINE_NS,
                                            .output = place,
                                            .output_size = sizeof place};
    struct gyre_process_end end;
    const bool knows = gyre_process_run(&asked, &end) == GYRE_OK && !end.signal && !end.exit_code;
    place[strcspn(place, "\n")] = '\0';
    char *const remark = strstr(place, " (discriminator "); /* which addr2line may add */
    if (remark)
        *remark = '\0';
    char *const colon = strrchr(place, ':');
    if (!knows || !colon || place[0] == '?') {
        fprintf(out, "%s of '%s'", address, one->fields[MODULE]);
        return;
    }
    fputs(place, out);
    *colon = '\0';
    FILE *const file = fopen(place, "re");
    bool found = file != NULL;
    for (unsigned long left = strtoul(colon + 1, NULL, 10); found && left > 0; left--)
        found = fgets(source, sizeof source, file) != NULL;
    if (file)
        fclose(file);
    const char *const begin = found ? source + strspn(source, " \t") : "";
    const size_t length = strcspn(begin, "\n");
    if (found)
        fprintf(out, " (`%.*s`)", (int)(length < SOURCE_MAX ? length : SOURCE_MAX), begin);
}

/* Writes " for request 2 from 'low'", the message of an access. */
static void write_message(const access_line *one, FILE *out)
{
    fprintf(out, " for request %" PRIu64, one->index + 1);
    if (one->fields[SENDER][0] != '-')
        fprintf(out, " from '%s'", one->fields[SENDER]);
}

/* Writes "what 'join' wrote at FILE:12 (`...`) for request 2 from 'low'". */
static void write_writer(const access_line *writer, FILE *out)
{
    if (!writer) {
        fputs("what was there before", out);
        return;
    }
    fprintf(out, "what '%s' wrote at ", writer->fields[KERNEL]);
    write_place(writer, out);
    write_message(writer, out);
}

/* `reads`: the accesses that find what the writers wrote; NULL: none does. */
static void write_writers(const access_line *const writers[2], const access_line *const reads[2],
                          const uint64_t seeds[2], FILE *out)
{
    for (int i = 0; i < 2; i++) {
        fprintf(out, "%s with seed %" PRIu64 " ", i ? "," : "", seeds[i]);
        if (reads && reads[i]->finds_older)
            fputs("an older value than ", out);
        write_writer(writers[i], out);
    }
    if (reads && (reads[0]->finds_older || reads[1]->finds_older))
        fputs("; nothing but the end of a message orders what it stores for other messages", out);
    fputc('\n', out);
}

static bool tell_read(const accesses runs[2], const uint64_t seeds[2], FILE *out)
{
    for (size_t i = 0; i < runs[1].count; i++) {
        const access_line *const now = &runs[1].all[i];
        const access_line *const same =
            now->how & GYRE_TOUCH_READS ? find_same(&runs[1], &runs[0], now) : NULL;
        if (!same || same->value == now->value)
            continue;
        const access_line *const writers[2] = {find_writer(&runs[0], same, same),
                                               find_writer(&runs[1], now, now)};
        const access_line *const reads[2] = {same, now};
        if (same->finds_older == now->finds_older && is_same_writer(writers[0], writers[1]))
            continue; /* the same message wrote another value there: it had read another one before */
        fprintf(out, "gyre: '%s' reads %s at ", now->fields[KERNEL], now->fields[MEMORY]);
        write_place(now, out);
        write_message(now, out);
        fputs(", and finds", out);
        write_writers(writers, reads, seeds, out);
        return true;
    }
    return false;
}

/* The last write of the run to memory of that name, of a message of that kernel; NULL: nobody writes it. */
static const access_line *find_last(const accesses *run, const access_line *like)
{
    for (size_t i = run->count; i-- > 0;)
        if (run->all[i].how & GYRE_TOUCH_WRITES &&
            strcmp(run->all[i].fields[MEMORY], like->fields[MEMORY]) == 0 &&
            strcmp(run->all[i].fields[KERNEL], like->fields[KERNEL]) == 0)
            return &run->all[i];
    return NULL;
}

static void tell_last(const accesses runs[2], const uint64_t seeds[2], FILE *out)
{
    for (size_t i = runs[1].count; i-- > 0;) {
        const access_line *const now = &runs[1].all[i];
        if (!(now->how & GYRE_TOUCH_WRITES))
            continue;
        const access_line *const writers[2] = {find_last(&runs[0], now), find_last(&runs[1], now)};
        if (!writers[0] || is_same_writer(writers[0], writers[1]))
            continue;
        fprintf(out, "gyre: %s of '%s' is at the end", now->fields[MEMORY], now->fields[KERNEL]);
        write_writers(writers, NULL, seeds, out);
        return;
    }
}

void call_accesses_tell(const char *const paths[2], const uint64_t seeds[2], FILE *out)
{
    accesses runs[2] = {read_accesses(paths[0]), read_accesses(paths[1])};
    if (runs[0].all && runs[1].all && !tell_read(runs, seeds, out))
        tell_last(runs, seeds, out);
    free_accesses(&runs[0]);
    free_accesses(&runs[1]);
}
