/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's life with the CUDA backend, told in lines, for campaign.c to judge: it opens a runtime, moves memory,
 * launches two kernels, one of them while the other is under load, exchanges messages, pauses, relaunches and closes.
 *
 *     driver_life LIVES [WORDS]
 *
 * Each step is a line: `step NAME STATUS SENTENCE`. One that fails is made once more. Behind a device that died every
 * step is tried, so that each says what it came to. Exit code 1, with a line `wrong ...`, when a reply or a byte is not
 * what it has to be, something took longer than it may, or WORDS were not logged; 2 when a life was not good.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gyre/gyre.h>

#include "driver.h"
#include "../../../patience.h"

enum {
    ITEMS = 512,
    LARGE = (5 << 20) / 8,
    MESSAGES = 4,
    CAPACITY = 64,
    PATIENCE_MS = 15000, /* of a step that nothing keeps from its end but other programs */
    PROMPT_MS = 3000,    /* of what has nothing to wait for; see on_time */
    BEAT_MS = 10,
    NOT_GOOD = 2 /* exit code */
};

struct life {
    gyre_runtime *runtime;
    gyre_buffer *table, *large, *copy;
    gyre_kernel *lookup, *chain;
    gyre_queue *second;
    uint64_t model; /* the state of `chain` */
    bool lost;      /* the device, in this process */
    pthread_t loader;
    bool loading;
    uint32_t enough; /* atomic: the load is to end */
};

static uint64_t item(uint64_t place)
{
    return (place + 1) * 0x9e3779b97f4a7c15u;
}

static void wrong(const char *what, uint64_t expected, uint64_t found)
{
    printf("wrong %s: expected %llu, found %llu\n", what, (unsigned long long)expected,
           (unsigned long long)found);
    fflush(stdout);
    exit(1);
}

static const char *words; /* that have to be logged; NULL: they were, or none have to */

static void log_line(void *context, int level, const char *text)
{
    (void)context;
    if (words && strstr(text, words))
        words = NULL;
    printf("log %d %s\n", level, text);
}

/* ---- time ---- */

static uint32_t beats; /* atomic */

/* A thread that sleeps and wakes tells how fast threads get on here: where others keep the processors, it is late, too. */
static void *beat(void *argument)
{
    for (;;) {
        nanosleep(&(struct timespec){0, BEAT_MS * 1000000}, NULL);
        __atomic_fetch_add(&beats, 1, __ATOMIC_RELAXED);
    }
    return argument;
}

static uint32_t now_in_beats(void)
{
    return __atomic_load_n(&beats, __ATOMIC_RELAXED);
}

static void on_time(const char *what, uint32_t since)
{
    const uint32_t taken = now_in_beats() - since;
    if (taken > PROMPT_MS / BEAT_MS)
        wrong(what, PROMPT_MS / BEAT_MS, taken);
}

/* ---- memory ---- */

static gyre_status open_runtime(struct life *life)
{
    const gyre_open_desc desc = {.size = sizeof desc, .backend = "cuda", .log = log_line};
    return gyre_open(&desc, &life->runtime);
}

static gyre_status alloc_table(struct life *life)
{
    return life->table ? GYRE_OK
                       : gyre_buffer_alloc(life->runtime, NULL, 0, ITEMS * sizeof(uint64_t), &life->table);
}

static gyre_status alloc_large(struct life *life)
{
    gyre_status status =
        life->large ? GYRE_OK
                    : gyre_buffer_alloc(life->runtime, NULL, 0, LARGE * sizeof(uint64_t), &life->large);
    if (status == GYRE_OK && !life->copy)
        status = gyre_buffer_alloc(life->runtime, NULL, 0, LARGE * sizeof(uint64_t), &life->copy);
    return status;
}

static gyre_status upload_table(struct life *life)
{
    uint64_t items[ITEMS];
    for (uint64_t i = 0; i < ITEMS; i++)
        items[i] = item(i);
    return gyre_buffer_upload(life->table, 0, items, sizeof items);
}

/* Large transfers go through pinned pieces and several threads. */
static gyre_status move_large(struct life *life)
{
    uint64_t *items = malloc(LARGE * sizeof *items);
    if (!items)
        abort();
    for (uint64_t i = 0; i < LARGE; i++)
        items[i] = item(i);
    gyre_status status = gyre_buffer_upload(life->large, 0, items, LARGE * sizeof *items);
    if (status == GYRE_OK)
        status = gyre_buffer_fill(life->large, 0, 7, sizeof *items);
    if (status == GYRE_OK)
        status = gyre_buffer_copy(life->copy, 0, life->large, 0, LARGE * sizeof *items);
    memset(items, 0, LARGE * sizeof *items);
    if (status == GYRE_OK)
        status = gyre_buffer_download(life->copy, 0, items, LARGE * sizeof *items);
    for (uint64_t i = 0; i < LARGE && status == GYRE_OK; i++)
        if (items[i] != (i ? item(i) : 0x0707070707070707u))
            wrong("item of a buffer", i ? item(i) : 0x0707070707070707u, items[i]);
    free(items);
    return status;
}

static gyre_status free_large(struct life *life)
{
    gyre_status status = gyre_buffer_free(life->large);
    if (status == GYRE_OK)
        life->large = NULL;
    return status;
}

/* ---- kernels ---- */

static gyre_status launch_lookup(struct life *life)
{
    const gyre_binding_name binding = {"table", life->table};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = DRIVER_KERNELS ":lookup",
                                   .lanes = 32,
                                   .bindings = &binding,
                                   .binding_count = 1};
    return life->lookup ? GYRE_OK : gyre_launch(life->runtime, &desc, &life->lookup);
}

static gyre_status open_second(struct life *life)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = CAPACITY};
    return life->second ? GYRE_OK : gyre_queue_open(life->lookup, &desc, &life->second);
}

static gyre_status look_up(gyre_queue *queue, uint64_t place)
{
    const word request = {place % ITEMS};
    word reply = {0};
    gyre_status status = gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL,
                                   gyre_in_ms(patiently(PATIENCE_MS)));
    if (status == GYRE_OK && reply.value != item(request.value))
        wrong("looked-up item", item(request.value), reply.value);
    return status;
}

static void *load(void *argument)
{
    struct life *life = argument;
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; status == GYRE_OK && !__atomic_load_n(&life->enough, __ATOMIC_ACQUIRE); i++)
        status = look_up(life->second, i);
    if (status != GYRE_OK)
        printf("load %s %s\n", gyre_status_word(status), gyre_error_text());
    return NULL;
}

static gyre_status start_load(struct life *life)
{
    life->loading = life->second && pthread_create(&life->loader, NULL, load, life) == 0;
    return GYRE_OK;
}

/* With stamps and events of the device (`timing`), while the other kernel has to make room. */
static gyre_status launch_chain(struct life *life)
{
    const gyre_launch_desc desc = {.size = sizeof desc, .source = DRIVER_KERNELS ":chain"};
    life->model = 0;
    return life->chain ? GYRE_OK : gyre_launch(life->runtime, &desc, &life->chain);
}

static gyre_status exchange(struct life *life)
{
    gyre_queue *queue = gyre_kernel_queue(life->chain);
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; i < MESSAGES && status == GYRE_OK; i++) {
        const word request = {i};
        word reply = {0};
        status = gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL,
                           gyre_in_ms(patiently(PATIENCE_MS)));
        life->model = life->model * 31 + i;
        if (status == GYRE_OK && reply.value != life->model)
            wrong("state of the chain", life->model, reply.value);
    }
    return status;
}

static gyre_status use_first(struct life *life)
{
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; i < MESSAGES && status == GYRE_OK; i++)
        status = look_up(gyre_kernel_queue(life->lookup), i);
    return status;
}

static gyre_status pause_chain(struct life *life)
{
    return gyre_kernel_deactivate(life->chain, gyre_in_ms(patiently(PATIENCE_MS)));
}

static gyre_status read_state(struct life *life)
{
    word state = {0};
    gyre_status status = gyre_kernel_state_read(life->chain, &state, sizeof state);
    if (status == GYRE_OK && state.value != life->model)
        wrong("state that was read", life->model, state.value);
    return status;
}

static gyre_status resume_chain(struct life *life)
{
    return gyre_kernel_activate(life->chain, gyre_in_ms(patiently(PATIENCE_MS)));
}

static gyre_status terminate_chain(struct life *life)
{
    return gyre_kernel_terminate(life->chain, gyre_in_ms(patiently(PATIENCE_MS)), NULL);
}

static gyre_status relaunch_chain(struct life *life)
{
    life->model = 0;
    return gyre_kernel_relaunch(life->chain);
}

/* ---- the life ---- */

static gyre_status end_load(struct life *life)
{
    const uint32_t start = now_in_beats();
    __atomic_store_n(&life->enough, 1, __ATOMIC_RELEASE);
    if (life->loading)
        pthread_join(life->loader, NULL);
    life->loading = false;
    on_time("beats until a waiting call returned", start);
    return GYRE_OK;
}

static gyre_status close_second(struct life *life)
{
    gyre_queue_close(life->second);
    life->second = NULL;
    return GYRE_OK;
}

static gyre_status close_runtime(struct life *life)
{
    const uint32_t start = now_in_beats();
    gyre_close(life->runtime);
    on_time("beats until the runtime was closed", start);
    return GYRE_OK;
}

static const struct step {
    const char *name;
    gyre_status (*run)(struct life *life);
} steps[] = {
    {"open", open_runtime},
    {"alloc_table", alloc_table},
    {"alloc_large", alloc_large},
    {"upload_table", upload_table},
    {"launch_lookup", launch_lookup},
    {"open_second", open_second},
    {"start_load", start_load},
    {"move_large", move_large},
    {"launch_chain", launch_chain},
    {"exchange", exchange},
    {"use_first", use_first},
    {"pause_chain", pause_chain},
    {"read_state", read_state},
    {"resume_chain", resume_chain},
    {"exchange", exchange},
    {"free_large", free_large},
    {"terminate_chain", terminate_chain},
    {"relaunch_chain", relaunch_chain},
    {"exchange", exchange},
    {"use_first", use_first},
    {"end_load", end_load},
    {"close_second", close_second},
    {"close", close_runtime},
};

static gyre_status take(const struct step *step, struct life *life)
{
    const uint64_t start = gyre_now_ns();
    gyre_status status = step->run(life);
    printf("step %s %s %llu ms: %s\n", step->name, gyre_status_word(status),
           (unsigned long long)((gyre_now_ns() - start) / 1000000),
           status == GYRE_OK ? "" : gyre_error_text());
    life->lost = life->lost || status == GYRE_LOST;
    return status;
}

/* False when a step failed twice though its device lives. */
static bool live(void)
{
    struct life life = {0};
    bool good = true;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        gyre_status status = take(&steps[i], &life);
        if (status != GYRE_OK && !life.lost)
            status = take(&steps[i], &life);
        good = good && (status == GYRE_OK || life.lost);
        if (!life.runtime)
            break;
    }
    printf("life %s\n", life.lost ? "lost" : good ? "good" : "failed");
    return good && !life.lost;
}

int main(int argc, char **argv)
{
    const int lives = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    bool good = true;
    words = argc > 2 ? argv[2] : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pthread_create(&thread, NULL, beat, NULL) != 0)
        abort();
    for (int i = 0; i < lives && good; i++)
        good = live();
    if (words)
        wrong("lines of the log with the words", 1, 0);
    printf("end\n");
    return good ? 0 : NOT_GOOD;
}
