/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observation of this process (observation.h): opened by its first runtime, removed with the last one; records and values.
 *
 * Locks: process_lock for the process's one object, then the object's own lock for what is written. A program that ends by
 * exit() without closing its runtimes removes the file as well; a file that stays is one of a process that was killed.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observation_memory.h"
#include "gyre/waiting.h"

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static struct gyre_observation *of_process; /* NULL: no runtime has opened it */
static struct gyre_observation *kept; /* those that stay, so that tools that look for lost memory find them */

/* ---- opening and closing ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&process_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&process_lock);
}

/* The child keeps its copy of the object, which its copies of runtimes name, and writes nothing to the file of its parent. It
 * closes the file, because the lock on it would else outlive the parent. */
static void in_child(void)
{
    if (of_process) {
        __atomic_store_n(&of_process->foreign, true, __ATOMIC_RELEASE);
        __atomic_store_n(&of_process->trace.on, 0, __ATOMIC_RELEASE);
        close(of_process->file);
        of_process->file = -1;
    }
    of_process = NULL;
    pthread_mutex_unlock(&process_lock);
}

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

static gyre_status make_object(const struct gyre_observation_desc *desc, struct gyre_observation **out)
{
    struct gyre_observation *observation = calloc(1, sizeof *observation);
    if (!observation)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to observe this process");
    pthread_mutex_init(&observation->lock, NULL);
    observation->file = -1;
    observation->records_used = 1;
    const gyre_status status = gyre_observation_file_make(observation, desc);
    if (status == GYRE_OK) {
        gyre_observation_trace_begin(observation, desc->tracing);
        *out = observation;
        return GYRE_OK;
    }
    pthread_mutex_destroy(&observation->lock);
    free(observation);
    return status;
}

gyre_status gyre_observation_open(const struct gyre_observation_desc *desc, struct gyre_observation **out)
{
    gyre_status status = GYRE_OK;
    *out = NULL;
    pthread_once(&prepared, prepare_for_forks);
    pthread_mutex_lock(&process_lock);
    if (!of_process)
        status = make_object(desc, &of_process);
    if (of_process)
        of_process->users++;
    *out = of_process;
    pthread_mutex_unlock(&process_lock);
    return status;
}

static bool is_writable(const struct gyre_observation *observation)
{
    return observation && !__atomic_load_n(&observation->foreign, __ATOMIC_ACQUIRE);
}

void gyre_observation_keep(struct gyre_observation *observation)
{
    if (!is_writable(observation))
        return;
    pthread_mutex_lock(&process_lock);
    observation->stays = true;
    pthread_mutex_unlock(&process_lock);
}

/* Gives the file up, but not the memory, which has pages for all spans once one was begun. Under process_lock. */
static void keep_memory(struct gyre_observation *observation)
{
    close(observation->file);
    observation->file = -1;
    observation->kept_before = kept;
    kept = observation;
}

void gyre_observation_close(struct gyre_observation *observation)
{
    if (!is_writable(observation))
        return;
    pthread_mutex_lock(&process_lock);
    const bool last = --observation->users == 0, stays = observation->stays;
    if (last) {
        of_process = NULL;
        gyre_observation_trace_end(observation);
        if (observation->path[0])
            unlink(observation->path);
        if (stays)
            keep_memory(observation);
        else
            gyre_observation_file_finish(observation);
    }
    pthread_mutex_unlock(&process_lock);
    if (!last || stays)
        return;
    pthread_mutex_destroy(&observation->lock);
    free(observation);
}

/* At the end of the program, where threads may still write: the memory stays. */
__attribute__((destructor)) static void remove_at_exit(void)
{
    if (pthread_mutex_trylock(&process_lock) != 0)
        return;
    if (of_process && of_process->pid == getpid() && of_process->path[0]) {
        gyre_observation_trace_end(of_process);
        unlink(of_process->path);
    }
    pthread_mutex_unlock(&process_lock);
}

const char *gyre_observation_path(const struct gyre_observation *observation)
{
    return observation ? observation->path : "";
}

uint64_t gyre_observation_every_ns(const struct gyre_observation *observation)
{
    return is_writable(observation) ? observation->head->every_ns : 0;
}

/* ---- records ---- */

static gyre_observe_record *record_at(struct gyre_observation *observation, uint32_t number)
{
    return gyre_observation_at(observation, GYRE_OBSERVE_RECORDS, number);
}

/* The number of a record that no object has; 0: there is none. */
static uint32_t find_free(struct gyre_observation *observation)
{
    if (observation->full)
        return 0;
    for (uint32_t number = 1; number < observation->records_used; number++) {
        const gyre_observe_record *record = record_at(observation, number);
        if (record && record->kind == GYRE_OBSERVE_FREE)
            return number;
    }
    observation->full = observation->records_used == GYRE_OBSERVATION_RECORDS;
    return observation->full ? 0 : observation->records_used++;
}

/* Marks the entry at both ends before it changes: a reader that copied a part of the change finds that the marks differ, or are
 * odd. */
static void write_record(gyre_observe_record *record, const gyre_observe_record *about)
{
    const uint64_t generation = (record->generation | 1) + 1;
    const size_t begin = sizeof record->generation, end = offsetof(gyre_observe_record, again);
    __atomic_store_n(&record->again, generation - 1, __ATOMIC_RELAXED);
    __atomic_store_n(&record->generation, generation - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy((unsigned char *)record + begin, (const unsigned char *)about + begin, end - begin);
    __atomic_store_n(&record->again, generation, __ATOMIC_RELEASE);
    __atomic_store_n(&record->generation, generation, __ATOMIC_RELEASE);
}

static uint32_t enter(struct gyre_observation *observation, const gyre_observe_record *about)
{
    const uint32_t number = find_free(observation);
    gyre_observe_record *record = number ? record_at(observation, number) : NULL;
    uint64_t *words = number ? gyre_observation_at(observation, GYRE_OBSERVE_VALUES, number) : NULL;
    if (!record || !words) {
        observation->refused++;
        return 0;
    }
    memset(words, 0, GYRE_OBSERVE_WORDS * sizeof *words);
    write_record(record, about);
    return number;
}

static bool is_same(const gyre_observe_record *record, const gyre_observe_record *about)
{
    return record && record->kind == about->kind && record->parent == about->parent &&
           strcmp(record->name, about->name) == 0 && strcmp(record->detail, about->detail) == 0;
}

uint32_t gyre_observation_enter(struct gyre_observation *observation, const gyre_observe_record *about)
{
    if (!is_writable(observation))
        return 0;
    pthread_mutex_lock(&observation->lock);
    const uint32_t number = enter(observation, about);
    pthread_mutex_unlock(&observation->lock);
    return number;
}

uint32_t gyre_observation_enter_once(struct gyre_observation *observation, const gyre_observe_record *about)
{
    uint32_t number = 1;
    if (!is_writable(observation))
        return 0;
    pthread_mutex_lock(&observation->lock);
    while (number < observation->records_used && !is_same(record_at(observation, number), about))
        number++;
    if (number == observation->records_used)
        number = enter(observation, about);
    pthread_mutex_unlock(&observation->lock);
    return number;
}

static gyre_observe_histogram *histogram_at(struct gyre_observation *observation, uint32_t number)
{
    return gyre_observation_at(observation, GYRE_OBSERVE_HISTOGRAMS, number);
}

/* The histogram of a record, else a free one, which becomes the record's; NULL: there is none below
 * place `end`. */
static gyre_observe_histogram *find_histogram(struct gyre_observation *observation, uint32_t record,
                                              uint32_t time, uint32_t end)
{
    gyre_observe_histogram *found = NULL;
    for (uint32_t number = 0; number < observation->histograms_used; number++) {
        gyre_observe_histogram *at = histogram_at(observation, number);
        if (at && at->record == record && at->time == time)
            return at;
        if (at && !at->record && !found && number < end)
            found = at;
    }
    if (!found && observation->histograms_used < end)
        found = histogram_at(observation, observation->histograms_used++);
    return found;
}

static void free_histograms(struct gyre_observation *observation, uint32_t record)
{
    for (uint32_t number = 0; number < observation->histograms_used; number++) {
        gyre_observe_histogram *at = histogram_at(observation, number);
        if (at && at->record == record)
            __atomic_store_n(&at->record, 0, __ATOMIC_RELEASE);
    }
}

static gyre_observe_block *block_at(struct gyre_observation *observation, uint32_t number)
{
    return gyre_observation_at(observation, GYRE_OBSERVE_BLOCKS, number);
}

/* The first of `count` places that follow each other: the record's, else free ones. False: there are none. */
static bool find_blocks(struct gyre_observation *observation, uint32_t record, uint32_t count,
                        uint32_t *first)
{
    bool found = false;
    uint32_t room = 0; /* free places right before `number` */
    for (uint32_t number = 0; number < observation->blocks_used; number++) {
        const gyre_observe_block *at = block_at(observation, number);
        if (at && at->record == record) {
            *first = number;
            return true;
        }
        room = at && !at->record ? room + 1 : 0;
        if (room == count && !found) {
            *first = number + 1 - count;
            found = true;
        }
    }
    if (found || GYRE_OBSERVATION_BLOCKS - observation->blocks_used < count)
        return found;
    *first = observation->blocks_used;
    observation->blocks_used += count;
    return true;
}

static void free_blocks(struct gyre_observation *observation, uint32_t record)
{
    for (uint32_t number = 0; number < observation->blocks_used; number++) {
        gyre_observe_block *at = block_at(observation, number);
        if (at && at->record == record)
            __atomic_store_n(&at->record, 0, __ATOMIC_RELEASE);
    }
}

void gyre_observation_leave(struct gyre_observation *observation, uint32_t record)
{
    static const gyre_observe_record nothing;
    if (!is_writable(observation) || !record)
        return;
    pthread_mutex_lock(&observation->lock);
    gyre_observe_record *at = record_at(observation, record);
    if (at)
        write_record(at, &nothing);
    observation->full = false;
    free_histograms(observation, record);
    free_blocks(observation, record);
    pthread_mutex_unlock(&observation->lock);
}

bool gyre_observation_state(struct gyre_observation *observation, uint32_t record, uint32_t state)
{
    if (!is_writable(observation) || !record)
        return false;
    pthread_mutex_lock(&observation->lock);
    gyre_observe_record *at = record_at(observation, record);
    const bool changed = at && at->state != state;
    if (changed) {
        gyre_observe_record about = *at;
        about.state = state;
        about.state_ns = gyre_clock_ns();
        write_record(at, &about);
    }
    pthread_mutex_unlock(&observation->lock);
    return changed;
}

/* ---- looks ---- */

void gyre_observation_value(struct gyre_observation *observation, uint32_t record, uint32_t word,
                            uint64_t value)
{
    if (!is_writable(observation) || !record)
        return;
    pthread_mutex_lock(&observation->lock);
    uint64_t *values = gyre_observation_at(observation, GYRE_OBSERVE_VALUES, record);
    if (values && word && word < GYRE_OBSERVE_WORDS)
        __atomic_store_n(&values[word], value, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&observation->lock);
}

void gyre_observation_values(struct gyre_observation *observation, uint32_t record, const uint64_t *words,
                             size_t count)
{
    if (!is_writable(observation) || !record)
        return;
    pthread_mutex_lock(&observation->lock);
    uint64_t *values = gyre_observation_at(observation, GYRE_OBSERVE_VALUES, record);
    for (size_t i = 1; values && i < count && i < GYRE_OBSERVE_WORDS; i++)
        __atomic_store_n(&values[i], words[i], __ATOMIC_RELAXED);
    if (values)
        __atomic_store_n(&values[0], gyre_clock_ns(), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&observation->lock);
}

void gyre_observation_histogram(struct gyre_observation *observation, const gyre_observe_histogram *histogram,
                                bool is_told)
{
    const uint32_t end = is_told ? GYRE_OBSERVATION_HISTOGRAMS_TOLD : GYRE_OBSERVATION_HISTOGRAMS;
    if (!is_writable(observation) || !histogram->record)
        return;
    pthread_mutex_lock(&observation->lock);
    gyre_observe_histogram *at = find_histogram(observation, histogram->record, histogram->time, end);
    if (!at) {
        observation->refused++;
    } else {
        at->time = histogram->time;
        __atomic_store_n(&at->sum_ns, histogram->sum_ns, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
            __atomic_store_n(&at->buckets[i], histogram->buckets[i], __ATOMIC_RELAXED);
        __atomic_store_n(&at->record, histogram->record, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&observation->lock);
}

static void write_block(gyre_observe_block *at, const gyre_observe_block *block, uint32_t record)
{
    __atomic_store_n(&at->share, block->share, __ATOMIC_RELAXED);
    __atomic_store_n(&at->known, block->known, __ATOMIC_RELAXED);
    __atomic_store_n(&at->seen_ns, block->seen_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&at->busy_ns, block->busy_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&at->record, record, __ATOMIC_RELEASE);
}

void gyre_observation_blocks(struct gyre_observation *observation, uint32_t record,
                             const gyre_observe_block *blocks, uint32_t count)
{
    uint32_t first = 0;
    if (!is_writable(observation) || !record)
        return;
    pthread_mutex_lock(&observation->lock);
    if (!find_blocks(observation, record, count, &first)) {
        observation->refused++;
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        gyre_observe_block *at = block_at(observation, first + i);
        if (at)
            write_block(at, &blocks[i], record);
    }
    pthread_mutex_unlock(&observation->lock);
}

void gyre_observation_beat(struct gyre_observation *observation)
{
    struct timespec now = {0};
    if (!is_writable(observation))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    const bool traced = gyre_observation_trace_wanted(observation);
    pthread_mutex_lock(&observation->lock);
    gyre_observe_head *head = observation->head;
    __atomic_store_n(&head->alive_real_ns, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&head->records_refused, observation->refused, __ATOMIC_RELAXED);
    observation->refused = 0;
    gyre_observation_trace_look(observation, traced);
    __atomic_store_n(&head->looks, head->looks + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&head->alive_ns, gyre_clock_ns(), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&observation->lock);
}
