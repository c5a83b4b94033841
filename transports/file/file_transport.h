/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the file transport: logs and records in a folder that several processes of a machine share.
 *
 *     FOLDER/APP/bells            one word for each of 1,024 groups of logs: changes when one of them grows
 *     FOLDER/APP/logs/LOG/lock    locked (flock) while a process appends to the log or purges it
 *     FOLDER/APP/logs/LOG/N.seg   blocks from number N on, one behind the other, each with a file_block_head
 *     FOLDER/APP/records.lock     locked while a process replaces a record
 *     FOLDER/APP/records/NAME     a file_record_head and the bytes; replaced by rename
 *     .../lock.G, records.lock.G  what is locked instead, once G processes were stopped for long while they held the lock (file_lock.c)
 *
 * A process may be killed at any moment. A block that was written in part lies at the end of the last segment; who appends next cuts it
 * off under the lock. Such a part is shorter than a head, or a head whose own seal fits and too few bytes, or zeros up to the end of the
 * file; everything else that is no block is damage and stays as it is. Readers take no lock: a block counts once it is there as a whole.
 * With `sync` a reader also sees to it that a block is on the disk before it uses it, because its writer may not have come to that yet.
 */
#ifndef GYRE_FILE_TRANSPORT_H
#define GYRE_FILE_TRANSPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/transport.h"

#define FILE_BLOCK_MAGIC  0x314c5947u /* "GYL1" */
#define FILE_RECORD_MAGIC 0x31525947u /* "GYR1" */

enum { FILE_BELLS = 1024, FILE_PATH_MAX = 512, FILE_SEGMENT_SIZE = 4 << 20 };

/** In front of each block. Blocks lie at multiples of 8 bytes. */
typedef struct file_block_head {
    uint32_t magic, size; /* bytes of the block, without this head */
    uint64_t number;
    uint32_t seal; /* CRC-32C of the members above and of the block's bytes */
    uint32_t
        head_seal; /* CRC-32C of magic, size and number: a size that changed is damage, never the end of the log */
} file_block_head;

typedef struct file_record_head {
    uint32_t magic, size;
    uint64_t revision;
    uint32_t seal; /* as that of a block */
    uint32_t reserved;
} file_record_head;

/** A place in a log: behind a block, or at its begin. */
typedef struct file_place {
    int file;         /* the open segment; -1: none */
    uint64_t base;    /* the number of its first block */
    uint64_t next;    /* the number of the block that begins, or will begin, at `offset` */
    uint64_t offset;  /* in the segment */
    uint64_t durable; /* of a reader with `sync`: blocks that begin below this offset are on the disk */
    bool is_whole;    /* a later segment was there when this one was opened: no append goes on in this one */
} file_place;

/** A lock that processes of one folder take in turn. Under the mutex that file_lock_take gets. */
typedef struct file_lock {
    int folder, file;    /* descriptors; file: -1: not open */
    const char *name;    /* of generation 0 */
    uint64_t generation; /* holders before that kept it for too long */
    bool is_mended; /* what the holder of the generation before was about to write cannot count any more */
} file_lock;

typedef struct file_log {
    struct file_log *following;
    gyre_transport_link *link;
    char name[GYRE_TRANSPORT_NAME_MAX + 1];
    int folder; /* a descriptor */
    file_lock lock;
    pthread_mutex_t mutex; /* guards the two places and the lock; held while the lock is */
    file_place end,
        reader; /* where the last append of anybody was seen to end; behind the block that was read last */
} file_log;

struct gyre_transport_link {
    const gyre_host *host;
    char path[FILE_PATH_MAX]; /* FOLDER/APP, for sentences */
    int folder, logs, records, bells;
    file_lock record_lock;
    void *bell_words; /* `bells`, mapped; only its address is used, for futexes */
    bool sync;        /* blocks and records are on the disk before they count */
    uint64_t
        reach_ns; /* how long a call waits for a lock; it is taken over after half of that, or a second */
    pthread_mutex_t mutex;
    file_log *first; /* under the mutex */
    pthread_mutex_t record_mutex;
};

/* file_folder.c: opening folders and files */

/** Opens a file below `folder` for reading and writing, made if it is not there. -1 and a sentence after a failure. */
int file_open_made(const gyre_transport_link *link, int folder, const char *name);
/** Opens a folder below `folder`, made if it is not there; with `sync` its name is on the disk. -1 and a sentence. */
int file_open_folder(const gyre_transport_link *link, int folder, const char *name);
/** A sentence with the words of errno; returns EXHAUSTED when a disk, memory or descriptors are, else UNAVAILABLE. */
gyre_status file_failed(const gyre_transport_link *link, const char *what, const char *name);
/** Writes everything at an offset; false with errno. */
bool file_write_all(int file, const void *bytes, size_t size, uint64_t offset);
/** The seal of a head, whose seal member lies behind `before` bytes, and its contents. */
uint32_t file_seal(const void *head, size_t before, const void *bytes, size_t size);

/* file_lock.c: locks that outlive a holder who is stopped */

/** Opens the lock's latest generation. */
gyre_status file_lock_open(const gyre_transport_link *link, file_lock *lock, int folder, const char *name);
void file_lock_close(file_lock *lock);
/**
 * Takes a mutex and a lock that other processes take, too; both or none. A holder who keeps it for a second, or half of reach_ns, loses the
 * lock: a new generation begins, and its holder sees to it first that nothing which the earlier one still writes can count, unless
 * is_mended says that it was done. UNAVAILABLE after reach_ns. While it waits the mutex is free.
 */
gyre_status file_lock_take(const gyre_transport_link *link, pthread_mutex_t *mutex, file_lock *lock,
                           const char *told);
/** Says to all later holders of this generation that it is mended. */
gyre_status file_lock_mended(const gyre_transport_link *link, file_lock *lock, const char *told);
/** Whether another process took the lock over from this one, which holds it. */
bool file_lock_is_lost(const file_lock *lock);
/** The sentence for that: nothing was written. */
gyre_status file_lock_lost(const gyre_transport_link *link, const char *told);
void file_lock_release(pthread_mutex_t *mutex, const file_lock *lock);
/** The name of a file that a holder of a generation writes before it takes its place by rename. */
enum { FILE_NEW_NAME_SIZE = 32 };
void file_new_name(char name[FILE_NEW_NAME_SIZE], uint64_t generation);
/** Removes such files of all generations before this one: whoever was about to rename one of them fails. */
gyre_status file_new_remove(const gyre_transport_link *link, int folder, uint64_t generation);

/* file_segment.c: segments of a log. Under the log's mutex */

/** What lies at a place. */
enum file_finding {
    FILE_FOUND,  /* a whole block */
    FILE_NOTHING /* no block, or a part of one */
};
/** Bytes of a block in its segment: the head, the block, and the filling up to a multiple of 8. */
uint64_t file_block_whole(const file_block_head *head);
/** The seal of a head without the block's bytes. */
uint32_t file_head_seal(const file_block_head *head);
/** Reads the head of the block at the place and checks it. INCOMPATIBLE when something else lies there. In a segment that is sealed nothing
 * lies: whoever lost the log's lock may write there, and a copy has taken its place, or will. */
gyre_status file_head_read(const file_log *log, const file_place *place, file_block_head *head,
                           enum file_finding *found);
/** With `sync`: brings the block at the place to the disk, and all behind it that are there. */
gyre_status file_place_settle(const file_log *log, file_place *place);
/** Moves the place behind the block with this head. */
void file_place_pass(file_place *place, const file_block_head *head);
/** Moves to the next segment, the first one that does not begin below place->next, if there is one. *moved: there is. INCOMPATIBLE when
 * this segment ends before an append would have made the next one. */
gyre_status file_place_go_on(const file_log *log, file_place *place, bool *moved);
/** Opens the segment that has, or will have, block `number`: the last one that does not begin behind it, else the first one. Without a
 * segment place->file is -1. */
gyre_status file_place_open(const file_log *log, file_place *place, uint64_t number);
/** Makes a segment that begins with block `number`. A holder who lost the log's lock makes none. */
gyre_status file_place_make(const file_log *log, file_place *place, uint64_t number);
void file_place_close(file_place *place);
/** The place's segment is sealed, or was removed. */
bool file_place_is_stale(const file_place *place);
/** Puts a copy of the last segment's whole blocks into its place: what an earlier holder of the log's lock writes is in the file of before,
 * which is sealed first. Under the lock. */
gyre_status file_segment_renew(file_log *log);
/** Removes the segments that only have blocks below `below`, the oldest first: a process that is killed leaves no hole. */
gyre_status file_segments_remove(const file_log *log, uint64_t below);

/* file_log.c */
gyre_status file_append(gyre_transport_link *link, const char *name, const gyre_transport_block *block,
                        uint64_t *number);
gyre_status file_read(gyre_transport_link *link, const char *name, uint64_t after, void *bytes, size_t room,
                      size_t *byte_count, uint64_t *number);
gyre_status file_last(gyre_transport_link *link, const char *name, uint64_t *number);
gyre_status file_wait(gyre_transport_link *link, const char *name, uint64_t after, uint64_t deadline_ns);
gyre_status file_purge(gyre_transport_link *link, const char *name, uint64_t below);
void file_logs_close(gyre_transport_link *link);

/* file_record.c */
gyre_status file_record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                            size_t *byte_count, uint64_t *revision);
gyre_status file_record_put(gyre_transport_link *link, const char *name, const void *bytes, size_t byte_count,
                            uint64_t expected, uint64_t *revision);
gyre_status file_record_list(gyre_transport_link *link, const char *prefix,
                             int (*each)(void *context, const char *name), void *context);

#endif
