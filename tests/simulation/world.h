/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation: one program, its device and its disk, in one thread. Whoever would be a thread or a process
 * is a machine that takes one small step when the scheduler says so; between any two steps the device or the
 * whole program may crash. Rings, log, checkpoints and journal are the real code.
 */
#ifndef GYRE_TESTS_WORLD_H
#define GYRE_TESTS_WORLD_H

#include "core/journal/file.h"

/** What the handler keeps, and replies. */
struct sim_state {
    uint64_t count, hash;
};

/** A request says only its number, which follows from its index. */
struct sim_request {
    uint64_t number, index;
};

/* ---- disk.c: a file whose synced part survives; or disk_files.c: files, as their folder's file system ---- */

struct sim_disk {
    unsigned char *bytes; /* what there is to read, after a crash */
    size_t size;
    bool (*refuses)(void);               /* whether this write, or sync, fails */
    size_t synced, fresh_size, doubtful; /* disk.c: behind `doubtful` a sync failed; 0: none did */
    unsigned char *fresh;                /* ... the file that is to replace it */
    unsigned char mark[GYRE_MARK_SIZE];  /* ... what stands behind the synced part */
    bool renewing;
    struct gyre_journal_file file; /* disk_files.c */
};

void sim_disk_begin(struct sim_disk *disk);
extern const struct gyre_journal_disk sim_disk_functions;
/** Power is lost: behind the synced part some bytes are there, perhaps, and perhaps they are wrong. Then the
 * program starts again. */
void sim_disk_crash(struct sim_disk *disk, uint64_t random);
void sim_disk_finish(struct sim_disk *disk);

/* ---- device.c: a worker that handles requests step by step ---- */

enum sim_phase { SIM_LOOKS, SIM_BEGAN, SIM_CHANGED_HALF, SIM_CHANGED, SIM_WROTE_HALF, SIM_WROTE };

struct sim_device {
    struct sim_state state;
    uint64_t next;
    enum sim_phase phase;
    bool paused, dead;
};

/** One step. False: there was nothing to do. A request that is poison kills it. */
bool sim_device_step(struct sim_device *device, gyre_queue *queue);
/** The device is gone, and its memory holds anything. */
void sim_device_crash(struct sim_device *device, uint64_t random);
/** Handles a request whole; for replay. */
void sim_handle(struct sim_state *state, uint64_t number);

uint64_t sim_number(uint64_t index);
bool sim_is_poison(uint64_t number);

#endif
