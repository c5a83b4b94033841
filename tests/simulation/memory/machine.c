/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and memory of the machine (machine.h). */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/random.h"

enum {
    STACK_SIZE = 256 * 1024,
    LOCALS = 64 * 1024, /* around the thread's pointer to its variables */
    CELLS = 1 << 15,    /* granules of 8 bytes of memory that a run may touch: a power of two */
    WORDS = 1 << 12,    /* places of atomic operations */
    HISTORY = 8,        /* stores of a place that may still be seen */
    STEPS_MAX = 300000, /* of a run: more is a loop without end */
    CLOCK_STEP_NS = 100
};

/* What a thread knows of each thread: how many of its steps. `seen` has, beside what is ordered, what fences made visible. */
struct clocks {
    uint32_t ordered[MACHINE_THREADS], seen[MACHINE_THREADS];
};

struct thread {
    const char *name;
    void (*body)(void *argument);
    void *argument;
    ucontext_t context;
    unsigned char *stack;
    struct clocks now;
    struct clocks acquired;             /* what relaxed loads brought: an acquire fence makes it known */
    struct clocks released;             /* at the last release fence: what relaxed stores carry */
    const volatile uint32_t *asleep_at; /* NULL: awake */
    bool ended;
};

/* A store of an atomic place. */
struct store {
    uint64_t value;
    unsigned thread; /* MACHINE_THREADS: before the run */
    uint32_t step;
    struct clocks carried; /* what an acquire of it brings */
};

/* An atomic place, and its last stores; the latest is stores[count - 1]. */
struct word {
    uintptr_t at;
    uint64_t gone; /* how many stores were forgotten */
    unsigned count;
    struct store stores[HISTORY];
    uint64_t floor[MACHINE_THREADS]; /* the number of the oldest store that a thread may see */
};

/* Who touched 8 bytes last, byte by byte. */
struct cell {
    uintptr_t at;
    uint8_t writer[8], writer_is_atomic;
    uint32_t written[8], read[MACHINE_THREADS][8], read_atomically[MACHINE_THREADS][8];
};

static struct {
    uint64_t seed, random, clock_ns, steps;
    unsigned count, current, odds;
    bool failed, running;
    struct thread threads[MACHINE_THREADS];
    uint32_t fences[MACHINE_THREADS]; /* what sequentially consistent fences have made visible */
    ucontext_t main;
    struct cell cells[CELLS];
    struct word words[WORDS];
    unsigned used_cells[CELLS], used_cell_count, used_words[WORDS], used_word_count;
} machine;

uint64_t machine_draw(uint64_t below)
{
    return random_below(&machine.random, below);
}

unsigned machine_self(void)
{
    return machine.running ? machine.current + 1 : 0;
}

/* ---- threads ---- */

static struct thread *self(void)
{
    return &machine.threads[machine.current];
}

static void leave(void)
{
    struct thread *const thread = self();
    machine.running = false;
    swapcontext(&thread->context, &machine.main);
}

void machine_fail(const char *format, ...)
{
    va_list arguments;
    if (!machine.failed) {
        printf("seed %llu, step %llu, thread '%s': ", (unsigned long long)machine.seed,
               (unsigned long long)machine.steps, self()->name);
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
    }
    machine.failed = true;
    if (machine.running)
        leave(); /* for good: machine_run resumes nobody */
}

static void enter(void)
{
    self()->body(self()->argument);
    self()->ended = true;
    leave();
}

void machine_thread(const char *name, void (*body)(void *argument), void *argument)
{
    struct thread *const thread = &machine.threads[machine.count];
    unsigned char *const stack = thread->stack ? thread->stack : malloc(STACK_SIZE);
    if (machine.count == MACHINE_THREADS || !stack)
        abort();
    *thread = (struct thread){.name = name, .body = body, .argument = argument, .stack = stack};
    thread->now.ordered[machine.count] = thread->now.seen[machine.count] = 1;
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = stack;
    thread->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&thread->context, enter, 0);
    machine.count++;
}

static bool can_run(const struct thread *thread)
{
    return !thread->ended && !thread->asleep_at;
}

/* Returns a thread that can run; the count when there is none. */
static unsigned draw_thread(void)
{
    unsigned awake = 0, number = 0;
    for (unsigned i = 0; i < machine.count; i++)
        awake += can_run(&machine.threads[i]);
    uint64_t left = awake ? machine_draw(awake) : 0;
    for (; awake && number < machine.count; number++)
        if (can_run(&machine.threads[number]) && left-- == 0)
            return number;
    return machine.count;
}

/* Tells of threads that nobody will wake. Returns whether there are any. */
static bool tell_sleepers(void)
{
    bool any = false;
    for (unsigned i = 0; i < machine.count; i++)
        if (!machine.threads[i].ended) {
            if (!any)
                printf("seed %llu: nobody wakes", (unsigned long long)machine.seed);
            printf(" '%s'", machine.threads[i].name);
            any = true;
        }
    if (any)
        printf("\n");
    return any;
}

bool machine_run(void)
{
    while (!machine.failed) {
        const unsigned next = draw_thread();
        if (next == machine.count)
            return !tell_sleepers();
        machine.current = next;
        machine.running = true;
        swapcontext(&machine.main, &machine.threads[next].context);
        machine.running = false;
    }
    return false;
}

static void count_step(void)
{
    if (++machine.steps > STEPS_MAX)
        machine_fail("after %d steps the run has not ended", STEPS_MAX);
}

void machine_yield(void)
{
    count_step();
    leave();
    machine.running = true;
}

/* Before each step: somebody else may go on. */
static void step(void)
{
    count_step();
    if (machine_draw(machine.odds) == 0) {
        leave();
        machine.running = true;
    }
}

uint64_t machine_clock_ns(void)
{
    return machine.clock_ns += CLOCK_STEP_NS;
}

/* ---- clocks ---- */

static void join(uint32_t *into, const uint32_t *from)
{
    for (unsigned i = 0; i < MACHINE_THREADS; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}

static void join_clocks(struct clocks *into, const struct clocks *from)
{
    join(into->ordered, from->ordered);
    join(into->seen, from->seen);
}

static bool acquires(int order)
{
    return order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(int order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

/* What the thread does from now on is behind all that others learned of it. */
static void tick(unsigned number)
{
    machine.threads[number].now.ordered[number]++;
    machine.threads[number].now.seen[number]++;
}

static void fence_all(unsigned number)
{
    struct thread *const thread = &machine.threads[number];
    join(machine.fences, thread->now.seen);
    join(thread->now.seen, machine.fences);
    tick(number);
}

void machine_fence(int order)
{
    struct thread *const thread = self();
    step();
    if (acquires(order))
        join_clocks(&thread->now, &thread->acquired);
    if (order == SEQ_CST)
        fence_all(machine.current);
    if (releases(order)) {
        thread->released = thread->now;
        tick(machine.current);
    }
}

void machine_barrier_of_all(void)
{
    step();
    for (unsigned i = 0; i < machine.count; i++)
        join(machine.fences, machine.threads[i].now.seen);
    for (unsigned i = 0; i < machine.count; i++) {
        join(machine.threads[i].now.seen, machine.fences);
        tick(i);
    }
}

/* ---- races ---- */

static struct cell *cell_of(uintptr_t at)
{
    const uintptr_t granule = at & ~(uintptr_t)7;
    unsigned place = (unsigned)((granule >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (CELLS - 1);
    while (machine.cells[place].at && machine.cells[place].at != granule)
        place = (place + 1) & (CELLS - 1);
    struct cell *const cell = &machine.cells[place];
    if (!cell->at) {
        if (machine.used_cell_count == CELLS / 2)
            abort();
        machine.used_cells[machine.used_cell_count++] = place;
        cell->at = granule;
        memset(cell->writer, MACHINE_THREADS, sizeof cell->writer);
    }
    return cell;
}

static bool is_behind(const struct thread *thread, unsigned other, uint32_t when)
{
    return other == machine.current || other >= MACHINE_THREADS || thread->now.ordered[other] >= when;
}

static void tell_race(const struct cell *cell, unsigned byte, unsigned other, const char *what)
{
    machine_fail("a race at %p: '%s' %s it, and nothing orders both", (void *)(cell->at + byte),
                 machine.threads[other].name, what);
}

static void look_at_byte(struct cell *cell, unsigned byte, bool writes, bool atomic)
{
    const struct thread *const thread = self();
    const unsigned writer = cell->writer[byte];
    const bool was_atomic = cell->writer_is_atomic >> byte & 1;
    if (!(atomic && was_atomic) && !is_behind(thread, writer, cell->written[byte]))
        tell_race(cell, byte, writer, "wrote");
    for (unsigned i = 0; writes && i < machine.count; i++)
        if (!is_behind(thread, i, cell->read[i][byte]) ||
            (!atomic && !is_behind(thread, i, cell->read_atomically[i][byte])))
            tell_race(cell, byte, i, "read");
    const uint32_t now = thread->now.ordered[machine.current];
    if (writes) {
        cell->writer[byte] = (uint8_t)machine.current;
        cell->written[byte] = now;
        cell->writer_is_atomic =
            (uint8_t)((cell->writer_is_atomic & ~(1u << byte)) | (unsigned)atomic << byte);
    } else if (atomic) {
        cell->read_atomically[machine.current][byte] = now;
    } else {
        cell->read[machine.current][byte] = now;
    }
}

static void look_at(uintptr_t at, size_t size, bool writes, bool atomic)
{
    for (size_t i = 0; i < size; i++)
        look_at_byte(cell_of(at + i), (unsigned)(at + i) & 7, writes, atomic);
}

static bool is_in(uintptr_t at, uintptr_t begin, size_t size)
{
    return at - begin < size;
}

/*
 * Whether the memory is the thread's alone: its stack, or that of thread-local variables, which threads of the machine have in common. Or the
 * machine's.
 */
static bool is_own(uintptr_t at)
{
    return is_in(at, (uintptr_t)self()->stack, STACK_SIZE) ||
           is_in(at, (uintptr_t)&machine, sizeof machine) ||
           is_in(at, (uintptr_t)__builtin_thread_pointer() - LOCALS / 2, LOCALS);
}

void machine_plain(const volatile void *at, size_t size, bool writes)
{
    if (machine.running && !is_own((uintptr_t)at))
        look_at((uintptr_t)at, size, writes, false);
}

/* ---- atomic places ---- */

static uint64_t peek(uintptr_t at, unsigned size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

static void poke(uintptr_t at, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)value;
        break;
    default:
        *(uint64_t *)at = value;
    }
}

static void push(struct word *word, const struct store *store)
{
    if (word->count == HISTORY) {
        memmove(word->stores, word->stores + 1, sizeof *word->stores * (HISTORY - 1));
        word->count--;
        word->gone++;
    }
    word->stores[word->count++] = *store;
}

/* Finds the place. What was stored there plainly, or by code without hooks, is a store that everybody sees. */
static struct word *word_of(uintptr_t at, unsigned size)
{
    unsigned place = (unsigned)(at * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (WORDS - 1);
    while (machine.words[place].at && machine.words[place].at != at)
        place = (place + 1) & (WORDS - 1);
    struct word *const word = &machine.words[place];
    if (!word->at) {
        if (machine.used_word_count == WORDS / 2)
            abort();
        machine.used_words[machine.used_word_count++] = place;
        word->at = at;
    }
    if (!word->count || word->stores[word->count - 1].value != peek(at, size))
        push(word, &(struct store){.value = peek(at, size), .thread = MACHINE_THREADS});
    return word;
}

static bool has_seen(const struct thread *thread, const struct store *store)
{
    return store->thread >= MACHINE_THREADS || thread->now.seen[store->thread] >= store->step;
}

/* Which store the thread's load gives: any behind the last one that it has seen. */
static unsigned choose(const struct word *word, const struct thread *thread)
{
    const uint64_t floor = word->floor[machine.current];
    unsigned oldest = word->count - 1;
    while (oldest > 0 && !has_seen(thread, &word->stores[oldest]) && word->gone + oldest > floor)
        oldest--;
    if (machine_draw(2) == 0)
        return word->count - 1;
    return oldest + (unsigned)machine_draw(word->count - oldest);
}

static void take(struct thread *thread, struct word *word, unsigned chosen, int order)
{
    const struct store *const store = &word->stores[chosen];
    word->floor[machine.current] = word->gone + chosen;
    join_clocks(&thread->acquired, &store->carried);
    if (acquires(order))
        join_clocks(&thread->now, &store->carried);
}

uint64_t machine_load(const volatile void *at, unsigned size, int order)
{
    struct thread *const thread = self();
    step();
    if (order == SEQ_CST)
        fence_all(machine.current);
    struct word *const word = word_of((uintptr_t)at, size);
    const unsigned chosen = choose(word, thread);
    take(thread, word, chosen, order);
    look_at((uintptr_t)at, size, false, true);
    return word->stores[chosen].value;
}

/* `before`: the store that this one replaces at once, whose release goes on in it; NULL: none. */
static void put(struct thread *thread, struct word *word, unsigned size, uint64_t value, int order,
                const struct store *before)
{
    struct store store = {.value = value, .thread = machine.current};
    look_at(word->at, size, true, true);
    store.step = thread->now.seen[machine.current];
    store.carried = releases(order) ? thread->now : thread->released;
    if (before)
        join_clocks(&store.carried, &before->carried);
    poke(word->at, size, value);
    push(word, &store);
    word->floor[machine.current] = word->gone + word->count - 1;
    tick(machine.current);
    if (order == SEQ_CST)
        fence_all(machine.current);
}

void machine_store(volatile void *at, unsigned size, uint64_t value, int order)
{
    step();
    put(self(), word_of((uintptr_t)at, size), size, value, order, NULL);
}

uint64_t machine_changed(enum machine_change what, uint64_t old, uint64_t value)
{
    switch (what) {
    case CHANGE_ADD:
        return old + value;
    case CHANGE_SUB:
        return old - value;
    case CHANGE_AND:
        return old & value;
    case CHANGE_OR:
        return old | value;
    case CHANGE_XOR:
        return old ^ value;
    default:
        return value;
    }
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

/* Reads the latest store and writes the next one, with nothing between. */
static void replace(struct word *word, unsigned size, uint64_t value, int order)
{
    struct thread *const thread = self();
    const struct store before = word->stores[word->count - 1];
    if (order == SEQ_CST)
        fence_all(machine.current);
    take(thread, word, word->count - 1, order);
    put(thread, word, size, cut(value, size), order, &before);
}

uint64_t machine_change(volatile void *at, unsigned size, enum machine_change what, uint64_t value, int order)
{
    step();
    struct word *const word = word_of((uintptr_t)at, size);
    const uint64_t old = word->stores[word->count - 1].value;
    replace(word, size, machine_changed(what, old, value), order);
    return old;
}

bool machine_swap(volatile void *at, unsigned size, uint64_t *expected, uint64_t value, int order,
                  int otherwise)
{
    step();
    struct word *const word = word_of((uintptr_t)at, size);
    const uint64_t old = word->stores[word->count - 1].value;
    if (old == *expected) {
        replace(word, size, value, order);
        return true;
    }
    take(self(), word, word->count - 1, otherwise);
    look_at((uintptr_t)at, size, false, true);
    *expected = old;
    return false;
}

/* ---- sleeping ---- */

void machine_sleep(const volatile uint32_t *word, uint32_t expected)
{
    step();
    if ((uint32_t)peek((uintptr_t)word, sizeof *word) != expected)
        return;
    self()->asleep_at = word;
    leave();
    machine.running = true;
}

void machine_wake(const volatile uint32_t *word, int count)
{
    step();
    for (unsigned i = 0; i < machine.count && count > 0; i++)
        if (machine.threads[i].asleep_at == word) {
            machine.threads[i].asleep_at = NULL;
            count--;
        }
}

/* ---- runs ---- */

void machine_begin(uint64_t seed)
{
    static const unsigned odds[] = {1, 2, 8, 64, 512, 4096};
    for (unsigned i = 0; i < machine.used_cell_count; i++)
        machine.cells[machine.used_cells[i]] = (struct cell){0};
    for (unsigned i = 0; i < machine.used_word_count; i++)
        machine.words[machine.used_words[i]] = (struct word){0};
    machine.used_cell_count = machine.used_word_count = 0;
    machine.seed = seed;
    machine.random = seed * 2 + 1;
    machine.odds = odds[machine_draw(sizeof odds / sizeof *odds)];
    machine.clock_ns = UINT64_C(1000000000);
    machine.steps = 0;
    machine.count = 0;
    machine.failed = false;
    memset(machine.fences, 0, sizeof machine.fences);
}
