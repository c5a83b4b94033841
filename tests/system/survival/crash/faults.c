/* SPDX-License-Identifier: Apache-2.0 */
/* See faults.h. The board is a file in shared memory, named by the environment, which workers inherit. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workers.h"

static struct gyre_fault_board *board;

bool make_fault_board(void)
{
    char path[64];
    int file = memfd_create("faults", 0); /* inherited on purpose, and named by its maker's number */
    require(file >= 0 && ftruncate(file, sizeof *board) == 0);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    require(board != MAP_FAILED);
    board->magic = GYRE_FAULT_MAGIC;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), file);
#if GYRE_FAULT_POINTS
    require(setenv("GYRE_FAULT_FILE", path, 1) == 0);
    return true;
#else
    return false;
#endif
}

void need_fault_board(void)
{
    if (make_fault_board())
        return;
    fprintf(stderr, "this build has no fault points (GYRE_FAULT_POINTS)\n");
    _Exit(77);
}

void arm_fault(const struct chosen_fault *fault, uint64_t after, uint64_t times)
{
    struct gyre_fault_cell *cell = &board->cells[fault->point];
    uint64_t first = __atomic_load_n(&cell->hits, __ATOMIC_RELAXED) + after;
    __atomic_store_n(&cell->last, 0, __ATOMIC_RELAXED);
    cell->action = fault->action;
    cell->value = fault->value;
    cell->first = first;
    __atomic_store_n(&cell->last, first + times - 1, __ATOMIC_RELEASE);
}

void disarm_faults(void)
{
    for (int i = 0; i < GYRE_FAULT_COUNT; i++)
        __atomic_store_n(&board->cells[i].last, 0, __ATOMIC_RELEASE);
}

uint64_t faults_fired(void)
{
    uint64_t fired = 0;
    for (int i = 0; i < GYRE_FAULT_COUNT; i++)
        fired += __atomic_load_n(&board->cells[i].fired, __ATOMIC_RELAXED);
    return fired;
}
