/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long users of a kernel wait while it is moved or gets another handler under full load: one thread makes one call after the other, two
 * more keep a window of messages filled. By hand (docs/moving.md):
 *
 *     change_pauses move FROM TO MIB TIMES    to and fro between two devices ("cuda:1"), with a buffer of so many MiB
 *     change_pauses swap AT MIB TIMES         to and fro between two handlers
 *
 * It prints a line of JSON for each direction: for how long the kernel stood, as its log says, and the longest call of each change. In the end
 * every message has been counted once, and the buffer holds what it held. The first change of each direction is told apart from the others.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/change.h>

#include "ledger.h"
#include "tests/system/survival/crash/workers.h"

enum { PRODUCERS = 2, WINDOW = 256, TIMES_MAX = 10000, DIRECTIONS = 2, BETWEEN_US = 20000 };

static gyre_kernel *kernel;
static uint32_t stop;                                      /* atomic */
static uint64_t longest_ns, calls, last_sum, stood_us;     /* atomic */
static uint64_t sent[PRODUCERS + 1], added[PRODUCERS + 1]; /* the last one is the caller's */

struct side {
    char backend[32];
    uint32_t number;
    const char *name, *file;
};

struct direction {
    unsigned count;
    double stood_ms[TIMES_MAX], longest_ms[TIMES_MAX];
};

/* ---- the load ---- */

static void *call_on(void *context)
{
    (void)context;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        const entry request = {1 + sent[PRODUCERS] % 100};
        receipt reply = {0};
        const uint64_t begun = gyre_now_ns();
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        const uint64_t took = gyre_now_ns() - begun;
        require(reply.add == request.add * reply.version && reply.sum > last_sum);
        last_sum = reply.sum;
        sent[PRODUCERS]++;
        added[PRODUCERS] += request.add;
        if (took > __atomic_load_n(&longest_ns, __ATOMIC_RELAXED))
            __atomic_store_n(&longest_ns, took, __ATOMIC_RELAXED);
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void take_reply(gyre_queue *queue, uint64_t add)
{
    receipt reply = {0};
    gyre_completion completion = {0};
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply.add == add * reply.version);
}

static void *stream_on(void *number)
{
    const uint64_t self = (uint64_t)(uintptr_t)number;
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 2 * WINDOW};
    gyre_queue *queue;
    uint64_t received = 0;
    must(gyre_queue_open(kernel, &desc, &queue));
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) || received < sent[self]) {
        for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED) && sent[self] - received < WINDOW; sent[self]++) {
            const entry request = {1 + sent[self] % 100};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
            added[self] += request.add;
        }
        if (received < sent[self]) {
            take_reply(queue, 1 + received % 100);
            received++;
        }
    }
    return NULL;
}

/* Until a call that was begun behind the change has ended, so that the longest one is known. */
static void await_calls(void)
{
    const uint64_t limit = soon(), before = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&calls, __ATOMIC_ACQUIRE) < before + 2) {
        require(gyre_now_ns() < limit);
        usleep(50);
    }
}

/* ---- changes ---- */

static void note_log(void *context, int level, const char *text)
{
    const char *const stood = strstr(text, "it stood for ");
    (void)context;
    if (stood)
        __atomic_store_n(&stood_us, strtoull(stood + strlen("it stood for "), NULL, 10), __ATOMIC_RELEASE);
    if (level == 1)
        fprintf(stderr, "%s\n", text);
}

static void change_to(const struct side *side, bool moves, struct direction *direction)
{
    __atomic_store_n(&longest_ns, 0, __ATOMIC_RELAXED);
    must(moves ? gyre_kernel_move(kernel, side->backend, side->number, soon())
               : gyre_kernel_swap(kernel, side->file, soon()));
    await_calls();
    direction->stood_ms[direction->count] = (double)__atomic_load_n(&stood_us, __ATOMIC_ACQUIRE) / 1e3;
    direction->longest_ms[direction->count++] = (double)__atomic_load_n(&longest_ns, __ATOMIC_RELAXED) / 1e6;
    usleep(BETWEEN_US);
}

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void tell_times(const char *name, double *times, unsigned count)
{
    const double first = times[0];
    qsort(times + 1, count - 1, sizeof *times, compare);
    printf(",\"%s\":{\"first\":%.3f,\"p50\":%.3f,\"p99\":%.3f,\"most\":%.3f}", name, first,
           times[1 + (count - 1) / 2], times[1 + (count - 1) * 99 / 100], times[count - 1]);
}

static void tell(const char *what, const char *from, const char *to, uint64_t mib,
                 struct direction *direction)
{
    printf("{\"what\":\"%s\",\"from\":\"%s\",\"to\":\"%s\",\"mib\":%llu,\"times\":%u", what, from, to,
           (unsigned long long)mib, direction->count - 1);
    tell_times("stood_ms", direction->stood_ms, direction->count);
    tell_times("longest_call_ms", direction->longest_ms, direction->count);
    printf(",\"calls\":%llu,\"messages\":%llu}\n", (unsigned long long)sent[PRODUCERS],
           (unsigned long long)(sent[0] + sent[1] + sent[PRODUCERS]));
}

/* ---- the kernel ---- */

static const char *file_of(unsigned version)
{
    static char paths[DIRECTIONS][512];
    const char *const folder = getenv("GYRE_TEST_CHANGES");
    snprintf(paths[version - 1], sizeof paths[0], "%s/ledger_%u.gyre.c", folder ? folder : CHANGE_KERNELS,
             version);
    return paths[version - 1];
}

static void read_side(const char *text, struct side *side)
{
    const size_t length = strcspn(text, ":");
    require(length < sizeof side->backend);
    memcpy(side->backend, text, length);
    side->backend[length] = '\0';
    side->number = text[length] == ':' ? (uint32_t)strtoul(text + length + 1, NULL, 10) : 0;
    side->name = text;
}

static gyre_runtime *open_kernel(const struct side *at, const uint64_t *cells, uint64_t bytes,
                                 gyre_buffer **totals)
{
    static const char *const settings[] = {"kernel.default.bells=false", "queue.default.layout=slots",
                                           "log_level=info", NULL};
    const gyre_open_desc desc = {
        .size = sizeof desc, .backend = at->backend, .settings = settings, .log = note_log};
    gyre_runtime *runtime;
    must(gyre_open(&desc, &runtime));
    must(gyre_buffer_alloc(runtime, at->backend, at->number, bytes, totals));
    must(gyre_buffer_upload(*totals, 0, cells, bytes));
    const gyre_binding_name binding = {"totals", *totals};
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = file_of(1),
                                     .backend = at->backend,
                                     .device = at->number,
                                     .bindings = &binding,
                                     .binding_count = 1};
    must(gyre_launch(runtime, &launch, &kernel));
    return runtime;
}

/* Word 0 is the handler's sum; the others stay. */
static void check_all(gyre_buffer *totals, uint64_t *cells, uint64_t bytes)
{
    uint64_t state[2], count = 0, sum = 0;
    for (unsigned i = 0; i <= PRODUCERS; i++) {
        count += sent[i];
        sum += added[i];
    }
    must(gyre_kernel_state_read(kernel, state, sizeof state));
    must(gyre_buffer_download(totals, 0, cells, bytes));
    require(state[0] == count && state[1] == sum && cells[0] == sum);
    for (uint64_t i = 1; i < bytes / sizeof *cells; i++)
        require(cells[i] == i * UINT64_C(0x9e3779b97f4a7c15));
}

int main(int argc, char **argv)
{
    static struct direction directions[DIRECTIONS];
    struct side sides[DIRECTIONS] = {{.file = file_of(1)}, {.file = file_of(2)}};
    pthread_t threads[PRODUCERS + 1];
    gyre_buffer *totals;
    const bool moves = argc == 6 && strcmp(argv[1], "move") == 0;
    if (!moves && !(argc == 5 && strcmp(argv[1], "swap") == 0)) {
        fprintf(stderr, "usage: change_pauses move FROM TO MIB TIMES | change_pauses swap AT MIB TIMES\n");
        return 2;
    }
    const uint64_t mib = strtoull(argv[argc - 2], NULL, 10), bytes = mib << 20;
    const unsigned long times = strtoul(argv[argc - 1], NULL, 10);
    require(mib > 0 && times > 1 && times < TIMES_MAX);
    read_side(argv[2], &sides[0]);
    read_side(argv[moves ? 3 : 2], &sides[1]);
    uint64_t *cells = malloc(bytes);
    require(cells != NULL);
    for (uint64_t i = 0; i < bytes / sizeof *cells; i++)
        cells[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    gyre_runtime *runtime = open_kernel(&sides[0], cells, bytes, &totals);
    require(pthread_create(&threads[PRODUCERS], NULL, call_on, NULL) == 0);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        require(pthread_create(&threads[i], NULL, stream_on, (void *)i) == 0);
    for (unsigned long i = 0; i < DIRECTIONS * (times + 1); i++)
        change_to(&sides[1 - i % 2], moves, &directions[i % 2]);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i <= PRODUCERS; i++)
        require(pthread_join(threads[i], NULL) == 0);
    check_all(totals, cells, bytes);
    tell(argv[1], sides[0].name, sides[1].name, mib, &directions[0]);
    tell(argv[1], sides[1].name, sides[0].name, mib, &directions[1]);
    gyre_close(runtime);
    free(cells);
    return EXIT_SUCCESS;
}
