/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the accesses of two runs (cpu_order.h). The same access of both is the one of the same lane at the same place of the code to the same
 * word, after as many such ones.
 */
#include "backends/cpu/check/cpu_order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MAX = 8192, WORD = 4, PLACE_MAX = 512 };

/* An access to a word of 4 bytes, or to a part of one. */
struct record {
    struct cpu_touch touch; /* its range is `range` */
    gyre_cpu_range range;
    uint64_t word;
    uint32_t value, lane;
};

struct cpu_order_run {
    uint32_t count;
    struct record records[RECORDS_MAX];
};

struct cpu_order_run *cpu_order_create(void)
{
    struct cpu_order_run *const run = malloc(sizeof *run);
    if (run)
        run->count = 0;
    return run;
}

void cpu_order_free(struct cpu_order_run *run)
{
    free(run);
}

void cpu_order_note(struct cpu_order_run *run, const struct cpu_touch *touch, uint64_t number, uint32_t lane)
{
    for (uint64_t done = 0; done < touch->size && run->count < RECORDS_MAX;) {
        const uint64_t rest = WORD - (number + done) % WORD, left = touch->size - done,
                       size = rest < left ? rest : left;
        struct record *const record = &run->records[run->count++];
        *record = (struct record){
            .touch = *touch, .range = *touch->range, .word = (number + done) / WORD, .lane = lane};
        record->touch.at = (const gyre_u8 *)touch->at + done;
        record->touch.size = size;
        memcpy(&record->value, record->touch.at, size);
        done += size;
    }
}

/* ---- comparing ---- */

static bool is_like(const struct record *a, const struct record *b)
{
    return a->word == b->word && a->lane == b->lane && a->touch.code == b->touch.code;
}

/* The access of the other run that is the same as this one; NULL: there is none. */
static const struct record *find_same(const struct cpu_order_run *run, const struct cpu_order_run *other,
                                      const struct record *record)
{
    uint32_t before = 0;
    for (const struct record *at = run->records; at < record; at++)
        before += is_like(at, record);
    for (uint32_t i = 0; i < other->count; i++)
        if (is_like(&other->records[i], record) && before-- == 0)
            return &other->records[i];
    return NULL;
}

/* The latest write to the word before `end`; NULL: nobody wrote it. */
static const struct record *find_writer(const struct cpu_order_run *run, const struct record *end,
                                        uint64_t word)
{
    while (end > run->records)
        if ((--end)->word == word && end->touch.how & GYRE_TOUCH_WRITES)
            return end;
    return NULL;
}

static bool is_same_write(const struct record *a, const struct record *b)
{
    return a == b || (a && b && a->lane == b->lane && a->touch.code == b->touch.code);
}

/* ---- telling ---- */

/* Writes "what lane 2 wrote at FILE:12 (`...`)". */
static void write_writer(const struct cpu_worker *worker, const struct record *writer, const char *verb,
                         char *text, size_t size)
{
    char place[PLACE_MAX];
    if (!writer) {
        snprintf(text, size, "what was there before");
        return;
    }
    cpu_finding_place(worker, writer->touch.code, place, sizeof place);
    snprintf(text, size, "%s lane %u %s at %s", verb[0] ? "what" : "by", writer->lane, verb, place);
}

static void write_memory(const struct cpu_worker *worker, const struct record *record, char *text,
                         size_t size)
{
    struct cpu_touch touch = record->touch;
    touch.range = &record->range;
    cpu_finding_memory(worker, &touch, text, size);
}

/* A lane reads another value: whose it is in both runs. */
static void tell_read(const struct cpu_worker *worker, const struct record *read,
                      const struct record *const writers[2], const uint64_t seeds[2], char *text, size_t size)
{
    char memory[128], place[PLACE_MAX], found[2][PLACE_MAX + 64];
    write_memory(worker, read, memory, sizeof memory);
    cpu_finding_place(worker, read->touch.code, place, sizeof place);
    for (int i = 0; i < 2; i++)
        write_writer(worker, writers[i], "wrote", found[i], sizeof found[i]);
    snprintf(text, size,
             "; lane %u reads %s at %s, and finds with seed %" PRIu64 " %s, with seed %" PRIu64 " %s",
             read->lane, memory, place, seeds[0], found[0], seeds[1], found[1]);
}

/* Nobody reads another value, and somebody else writes last. */
static void tell_last(const struct cpu_worker *worker, const struct record *const writers[2],
                      const uint64_t seeds[2], char *text, size_t size)
{
    char memory[128], found[2][PLACE_MAX + 64];
    write_memory(worker, writers[0], memory, sizeof memory);
    for (int i = 0; i < 2; i++)
        write_writer(worker, writers[i], "", found[i], sizeof found[i]);
    snprintf(text, size, "; %s is written last with seed %" PRIu64 " %s, with seed %" PRIu64 " %s", memory,
             seeds[0], found[0], seeds[1], found[1]);
}

static bool explain_read(const struct cpu_worker *worker, const struct cpu_order_run *const runs[2],
                         const uint64_t seeds[2], char *text, size_t size)
{
    for (uint32_t i = 0; i < runs[1]->count; i++) {
        const struct record *const now = &runs[1]->records[i];
        const struct record *const same =
            now->touch.how & GYRE_TOUCH_READS ? find_same(runs[1], runs[0], now) : NULL;
        if (!same || same->value == now->value || same->touch.size != now->touch.size)
            continue;
        const struct record *const writers[2] = {find_writer(runs[0], same, now->word),
                                                 find_writer(runs[1], now, now->word)};
        if (is_same_write(writers[0], writers[1]))
            continue; /* the same lane wrote another value there: it had read another one before */
        tell_read(worker, now, writers, seeds, text, size);
        return true;
    }
    return false;
}

static bool explain_last(const struct cpu_worker *worker, const struct cpu_order_run *const runs[2],
                         const uint64_t seeds[2], char *text, size_t size)
{
    for (uint32_t i = runs[1]->count; i-- > 0;) {
        const uint64_t word = runs[1]->records[i].word;
        const struct record *const writers[2] = {
            find_writer(runs[0], runs[0]->records + runs[0]->count, word),
            find_writer(runs[1], runs[1]->records + runs[1]->count, word)};
        if (!writers[0] || !writers[1] || is_same_write(writers[0], writers[1]))
            continue;
        tell_last(worker, writers, seeds, text, size);
        return true;
    }
    return false;
}

void cpu_order_explain(const struct cpu_worker *worker, const struct cpu_order_run *const runs[2],
                       const uint64_t seeds[2], char *text, size_t size)
{
    text[0] = '\0';
    if (!explain_read(worker, runs, seeds, text, size))
        explain_last(worker, runs, seeds, text, size);
}
