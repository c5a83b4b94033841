/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements fault points (fault.h) in builds that have them. The board (the table of what each point does) lies in this
 * process, or in a file that a test and the workers share. The first process that finds the board without its magic number
 * fills it from the environment. No locks: each point has a cell of its own, and the environment is read once.
 */
#include "core/base/fault.h"

#if GYRE_FAULT_POINTS
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"

static const char *const names[] = {
#define GYRE_FAULT_NAME(point, name, does, where) name,
    GYRE_FAULT_TABLE(GYRE_FAULT_NAME)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct gyre_fault_board own, *board = &own;

/* ---- the plan ---- */

static gyre_status bad(const char *entry, size_t length, const char *what)
{
    return gyre_error_set(GYRE_CONFIG,
                          "GYRE_FAULTS: '%.*s': %s; write NAME=ACTION[:VALUE][@WHEN], as in "
                          "journal.write=fail:ENOSPC@5",
                          (int)length, entry, what);
}

static int find_point(const char *text, size_t length)
{
    for (int i = 0; i < GYRE_FAULT_COUNT; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0)
            return i;
    return -1;
}

static bool starts(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool read_errno(const char **text, uint32_t *value)
{
    static const struct {
        const char *name;
        uint32_t number;
    } known[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN},
                 {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"ECONNREFUSED", ECONNREFUSED}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (starts(text, known[i].name)) {
            *value = known[i].number;
            return true;
        }
    return false;
}

static bool read_action(const char **text, struct gyre_fault_cell *cell)
{
    char *end;
    if (starts(text, "die")) {
        cell->action = GYRE_FAULT_DIE;
    } else if (starts(text, "short")) {
        cell->action = GYRE_FAULT_SHORT;
    } else if (starts(text, "fail")) {
        cell->action = GYRE_FAULT_FAIL;
        cell->value = EIO;
        return !starts(text, ":") || read_errno(text, &cell->value);
    } else if (starts(text, "delay:")) {
        cell->action = GYRE_FAULT_DELAY;
        cell->value = (uint32_t)strtoul(*text, &end, 10);
        bool read = end != *text;
        *text = end;
        return read;
    }
    return cell->action != 0;
}

static bool read_when(const char **text, struct gyre_fault_cell *cell)
{
    char *end;
    cell->first = cell->last = 1;
    if (!starts(text, "@"))
        return true;
    double number = strtod(*text, &end);
    if (end == *text || number < 0)
        return false;
    *text = end;
    if (starts(text, "%")) {
        cell->first = cell->last = 0;
        cell->chance = (uint64_t)((number < 100 ? number : 100) / 100 * 4294967296.0);
        return true;
    }
    cell->first = (uint64_t)number;
    cell->last = starts(text, "+") ? UINT64_MAX : cell->first;
    return cell->first > 0;
}

gyre_status gyre_fault_plan(const char *text, struct gyre_fault_board *out)
{
    while (*text) {
        size_t length = strcspn(text, ","), name = strcspn(text, "=,");
        struct gyre_fault_cell cell = {0};
        int point = find_point(text, name);
        const char *rest = text + name;
        if (point < 0)
            return bad(text, length, "there is no such fault point (core/base/fault_table.h lists them)");
        if (!starts(&rest, "=") || !read_action(&rest, &cell))
            return bad(text, length, "expected an action: die, fail, fail:ENOSPC, short or delay:20");
        if (!read_when(&rest, &cell) || rest != text + length)
            return bad(text, length, "expected a time: @5, @5+ or @1%");
        out->cells[point] = cell;
        text += length + (text[length] == ',');
    }
    return GYRE_OK;
}

gyre_status gyre_faults_check(void)
{
    struct gyre_fault_board none = {0};
    const char *plan = getenv("GYRE_FAULTS");
    return plan ? gyre_fault_plan(plan, &none) : GYRE_OK;
}

/* ---- the board ---- */

static struct gyre_fault_board *map_board(const char *path)
{
    void *found = MAP_FAILED;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && ftruncate(file, sizeof(struct gyre_fault_board)) == 0)
        found = mmap(NULL, sizeof(struct gyre_fault_board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return found == MAP_FAILED ? &own : found;
}

static void read_environment(void)
{
    const char *path = getenv("GYRE_FAULT_FILE"), *plan = getenv("GYRE_FAULTS"),
               *seed = getenv("GYRE_FAULT_SEED");
    if (path)
        board = map_board(path);
    if (__atomic_load_n(&board->magic, __ATOMIC_ACQUIRE) == GYRE_FAULT_MAGIC)
        return; /* the board is filled: this is a worker, or a test made the board */
    board->seed = seed ? strtoull(seed, NULL, 0) : 1;
    gyre_error_hold();
    if (plan)
        gyre_fault_plan(plan, board);
    gyre_error_let_go();
    __atomic_store_n(&board->magic, GYRE_FAULT_MAGIC, __ATOMIC_RELEASE);
}

/* ---- a point ---- */

/* A pseudo-random number that depends only on the seed, the point and the hit, so it is the same in every process. */
static uint64_t draw(enum gyre_fault_point point, uint64_t hit)
{
    uint64_t x = (board->seed + hit * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)point << 48;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x >> 32 ^ (x & UINT32_MAX);
}

static int act(const struct gyre_fault_cell *cell)
{
    switch (cell->action) {
    case GYRE_FAULT_DIE:
        for (;;)
            kill(getpid(), SIGKILL);
    case GYRE_FAULT_FAIL:
        errno = (int)cell->value;
        return (int)cell->value;
    case GYRE_FAULT_SHORT:
        return GYRE_FAULT_DO_HALF;
    case GYRE_FAULT_DELAY:
        nanosleep(&(struct timespec){cell->value / 1000, (long)(cell->value % 1000) * 1000000}, NULL);
        return 0;
    default:
        return 0;
    }
}

int gyre_fault_hit(enum gyre_fault_point point)
{
    pthread_once(&once, read_environment);
    struct gyre_fault_cell *cell = &board->cells[point];
    uint64_t hit = __atomic_add_fetch(&cell->hits, 1, __ATOMIC_RELAXED);
    /* pairs with the release of `last` by the process that sets the point */
    uint64_t last = __atomic_load_n(&cell->last, __ATOMIC_ACQUIRE);
    if (!(hit <= last && hit >= cell->first) && draw(point, hit) >= cell->chance)
        return 0;
    __atomic_add_fetch(&cell->fired, 1, __ATOMIC_RELAXED);
    return act(cell);
}
#endif
