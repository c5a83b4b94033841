/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a log (file_transport.h). The caller holds the log's mutex. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_transport.h"

enum { SEGMENT_NAME_SIZE = 32 };

static void name_segment(char name[SEGMENT_NAME_SIZE], uint64_t base)
{
    snprintf(name, SEGMENT_NAME_SIZE, "%020" PRIu64 ".seg", base);
}

/* The number in a segment's name; 0: it is no segment. */
static uint64_t segment_base(const char *name)
{
    char *end = NULL, again[SEGMENT_NAME_SIZE];
    if (name[0] < '0' || name[0] > '9')
        return 0;
    errno = 0;
    const uint64_t base = strtoull(name, &end, 10);
    name_segment(again, base);
    return errno == 0 && strcmp(name, again) == 0 ? base : 0;
}

static gyre_status damaged(const file_log *log, const file_place *place, const char *expected)
{
    char name[SEGMENT_NAME_SIZE];
    name_segment(name, place->base);
    return log->link->host->error(GYRE_INCOMPATIBLE,
                                  "the cluster's log '%s' is damaged: '%s/logs/%s/%s' at byte %" PRIu64
                                  ": expected %s: put back a copy of the "
                                  "folder, or begin with another app in [cluster]",
                                  log->name, log->link->path, log->name, name, place->offset, expected);
}

uint64_t file_block_whole(const file_block_head *head)
{
    return (sizeof *head + (uint64_t)head->size + 7) / 8 * 8;
}

uint32_t file_head_seal(const file_block_head *head)
{
    return file_seal(head, offsetof(file_block_head, seal), NULL, 0);
}

/* A machine that lost its power may leave a file that has grown without its bytes. */
static bool is_zero_from(int file, uint64_t offset)
{
    static const unsigned char zeros[4096];
    unsigned char bytes[sizeof zeros];
    ssize_t got;
    for (; (got = pread(file, bytes, sizeof bytes, (off_t)offset)) > 0; offset += (uint64_t)got)
        if (memcmp(bytes, zeros, (size_t)got) != 0)
            return false;
    return got == 0;
}

/* A segment is sealed by a bit of its mode, which everybody sees together with its size. */
static bool is_sealed(const struct stat *about)
{
    return (about->st_mode & S_IXUSR) != 0;
}

/* The state of the file is taken after its bytes: bytes that were written after it was sealed are seen in a sealed file. */
static gyre_status read_head(const file_log *log, const file_place *place, file_block_head *head,
                             struct stat *about, enum file_finding *found)
{
    *found = FILE_NOTHING;
    const ssize_t got = pread(place->file, head, sizeof *head, (off_t)place->offset);
    if (got < 0 || fstat(place->file, about) != 0)
        return file_failed(log->link, "read the log", log->name);
    if ((size_t)got < sizeof *head)
        return GYRE_OK;
    if (head->magic != FILE_BLOCK_MAGIC || head->number != place->next ||
        head->size > GYRE_TRANSPORT_BLOCK_MAX || head->head_seal != file_head_seal(head))
        return !head->magic && is_zero_from(place->file, place->offset)
                   ? GYRE_OK
                   : damaged(log, place, "the head of a block with a checksum that fits");
    if ((uint64_t)about->st_size >= place->offset + file_block_whole(head))
        *found = FILE_FOUND;
    return GYRE_OK;
}

gyre_status file_head_read(const file_log *log, const file_place *place, file_block_head *head,
                           enum file_finding *found)
{
    struct stat about = {0};
    *found = FILE_NOTHING;
    if (place->file < 0)
        return GYRE_OK;
    const gyre_status status = read_head(log, place, head, &about, found);
    if (status == GYRE_UNAVAILABLE || status == GYRE_EXHAUSTED || !is_sealed(&about))
        return status;
    *found = FILE_NOTHING; /* nor is anything damaged there */
    return GYRE_OK;
}

gyre_status file_place_settle(const file_log *log, file_place *place)
{
    file_place ahead = *place;
    file_block_head head;
    enum file_finding found;
    if (!log->link->sync || place->offset < place->durable)
        return GYRE_OK;
    while (file_head_read(log, &ahead, &head, &found) == GYRE_OK && found == FILE_FOUND)
        file_place_pass(&ahead, &head);
    if (fdatasync(place->file) != 0)
        return file_failed(log->link, "bring to the disk the log", log->name);
    place->durable = ahead.offset;
    return GYRE_OK;
}

void file_place_pass(file_place *place, const file_block_head *head)
{
    place->offset += file_block_whole(head);
    place->next++;
}

void file_place_close(file_place *place)
{
    if (place->file >= 0)
        close(place->file);
    *place = (file_place){.file = -1};
}

/* Calls for each segment; stops when `each` returns false. */
static gyre_status walk_segments(const file_log *log, bool (*each)(void *context, uint64_t base),
                                 void *context)
{
    const int copy = openat(log->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        const gyre_status status = file_failed(log->link, "read the folder of the log", log->name);
        if (copy >= 0)
            close(copy);
        return status;
    }
    for (const struct dirent *entry; (entry = readdir(stream));) {
        const uint64_t base = segment_base(entry->d_name);
        if (base && !each(context, base))
            break;
    }
    closedir(stream);
    return GYRE_OK;
}

struct search {
    uint64_t number, best, first, later; /* 0: none; `later`: the first one that begins behind `number` */
};

static bool look_at(void *context, uint64_t base)
{
    struct search *search = context;
    if (base <= search->number && base > search->best)
        search->best = base;
    if (base > search->number && (!search->later || base < search->later))
        search->later = base;
    if (!search->first || base < search->first)
        search->first = base;
    return true;
}

static gyre_status open_segment(const file_log *log, file_place *place, uint64_t base)
{
    char name[SEGMENT_NAME_SIZE];
    struct search search = {.number = base};
    name_segment(name, base);
    const int file = openat(log->folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT)
        return GYRE_NOT_FOUND;
    if (file < 0)
        return file_failed(log->link, "open a segment of the log", log->name);
    file_place_close(place);
    *place = (file_place){.file = file, .base = base, .next = base};
    const gyre_status status = walk_segments(log, look_at, &search);
    place->is_whole = search.later != 0;
    if (status != GYRE_OK)
        file_place_close(place);
    return status;
}

bool file_place_is_stale(const file_place *place)
{
    struct stat about;
    return fstat(place->file, &about) != 0 || about.st_nlink == 0 || is_sealed(&about);
}

gyre_status file_place_go_on(const file_log *log, file_place *place, bool *moved)
{
    const bool is_full = place->file >= 0 && place->offset >= FILE_SEGMENT_SIZE;
    *moved = false;
    if (!is_full && !place->is_whole)
        return GYRE_OK;
    if (!is_full)
        return file_place_is_stale(place)
                   ? GYRE_OK
                   : damaged(log, place, "another block, because later ones are there");
    gyre_status status = open_segment(log, place, place->next);
    if (status == GYRE_NOT_FOUND) { /* a purge may have removed what lies between */
        struct search search = {.number = place->next};
        status = walk_segments(log, look_at, &search);
        if (status == GYRE_OK)
            status = search.later ? open_segment(log, place, search.later) : GYRE_NOT_FOUND;
    }
    *moved = status == GYRE_OK;
    return status == GYRE_NOT_FOUND ? GYRE_OK : status;
}

static gyre_status not_made(const file_log *log, const char *what)
{
    const int error = errno;
    if (file_lock_is_lost(&log->lock))
        return file_lock_lost(log->link, log->name);
    errno = error;
    return file_failed(log->link, what, log->name);
}

/* As with a copy (put_copy): whoever lost the lock either sees that here, or finds its file removed. */
gyre_status file_place_make(const file_log *log, file_place *place, uint64_t number)
{
    char fresh[FILE_NEW_NAME_SIZE], name[SEGMENT_NAME_SIZE];
    file_new_name(fresh, log->lock.generation);
    name_segment(name, number);
    const int file = openat(log->folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool is_made = file >= 0 && !file_lock_is_lost(&log->lock) &&
                         (linkat(log->folder, fresh, log->folder, name, 0) == 0 || errno == EEXIST) &&
                         unlinkat(log->folder, fresh, 0) == 0;
    const gyre_status status = is_made ? GYRE_OK : not_made(log, "make");
    if (file >= 0)
        close(file);
    return is_made ? open_segment(log, place, number) : status;
}

gyre_status file_place_open(const file_log *log, file_place *place, uint64_t number)
{
    enum { TRIES = 16 }; /* a segment may be purged between the look and the opening */
    gyre_status status = GYRE_NOT_FOUND;
    file_place_close(place);
    for (int i = 0; i < TRIES && status == GYRE_NOT_FOUND; i++) {
        struct search search = {.number = number};
        status = walk_segments(log, look_at, &search);
        const uint64_t base = search.best ? search.best : search.first;
        if (status == GYRE_OK && !base)
            return GYRE_OK;
        if (status == GYRE_OK)
            status = open_segment(log, place, base);
    }
    return status == GYRE_NOT_FOUND
               ? log->link->host->error(GYRE_UNAVAILABLE, "the cluster's log '%s' is purged all the time",
                                        log->name)
               : status;
}

/* ---- after a lock was taken over ---- */

/* Copies the whole blocks, as far as the place came. */
static bool copy_blocks(int from, int to, uint64_t size)
{
    static const size_t part = 65536;
    unsigned char *bytes = malloc(part);
    bool copied = bytes != NULL;
    for (uint64_t at = 0; copied && at < size;) {
        const size_t wanted = size - at < part ? (size_t)(size - at) : part;
        const ssize_t got = pread(from, bytes, wanted, (off_t)at);
        copied = got > 0 && file_write_all(to, bytes, (size_t)got, at);
        at += copied ? (uint64_t)got : 0;
    }
    free(bytes);
    return copied;
}

/* A holder who lost the lock either sees that here, or finds its copy removed. */
static gyre_status put_copy(const file_log *log, const file_place *place)
{
    const gyre_transport_link *link = log->link;
    char fresh[FILE_NEW_NAME_SIZE], name[SEGMENT_NAME_SIZE];
    file_new_name(fresh, log->lock.generation);
    name_segment(name, place->base);
    const int copy = openat(log->folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool is_put =
        copy >= 0 && !file_lock_is_lost(&log->lock) && copy_blocks(place->file, copy, place->offset) &&
        (!link->sync || fdatasync(copy) == 0) && renameat(log->folder, fresh, log->folder, name) == 0 &&
        (!link->sync || fsync(log->folder) == 0);
    const gyre_status status = is_put ? GYRE_OK : not_made(log, "copy");
    if (copy >= 0)
        close(copy);
    return status;
}

gyre_status file_segment_renew(file_log *log)
{
    struct stat about;
    file_block_head head;
    enum file_finding found = FILE_FOUND;
    file_place *end = &log->end;
    gyre_status status = file_new_remove(log->link, log->folder, log->lock.generation);
    if (status == GYRE_OK)
        status = file_place_open(log, end, UINT64_MAX);
    if (status != GYRE_OK || end->file < 0)
        return status;
    if (fstat(end->file, &about) != 0 || fchmod(end->file, (about.st_mode & 07777) | S_IXUSR) != 0)
        return file_failed(log->link, "seal a segment of the log", log->name);
    while ((status = read_head(log, end, &head, &about, &found)) == GYRE_OK && found == FILE_FOUND)
        file_place_pass(end, &head);
    if (status == GYRE_OK)
        status = put_copy(log, end);
    file_place_close(end);
    return status;
}

/* ---- removing ---- */

struct removal {
    uint64_t last; /* the begin of the first segment that has to stay */
    uint64_t *bases;
    size_t count, room;
    bool lacks_memory;
};

static bool collect(void *context, uint64_t base)
{
    struct removal *removal = context;
    if (base >= removal->last)
        return true;
    if (removal->count == removal->room) {
        const size_t room = removal->room ? 2 * removal->room : 64;
        uint64_t *bases = realloc(removal->bases, room * sizeof *bases);
        removal->lacks_memory = !bases;
        if (!bases)
            return false;
        removal->bases = bases;
        removal->room = room;
    }
    removal->bases[removal->count++] = base;
    return true;
}

static int compare_bases(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static gyre_status remove_in_order(const file_log *log, const struct removal *removal)
{
    char name[SEGMENT_NAME_SIZE];
    if (removal->count)
        qsort(removal->bases, removal->count, sizeof *removal->bases, compare_bases);
    for (size_t i = 0; i < removal->count; i++) {
        name_segment(name, removal->bases[i]);
        if (unlinkat(log->folder, name, 0) != 0 && errno != ENOENT)
            return file_failed(log->link, "remove a segment of the log", log->name);
    }
    return GYRE_OK;
}

gyre_status file_segments_remove(const file_log *log, uint64_t below)
{
    struct search search = {.number = below};
    gyre_status status = walk_segments(log, look_at, &search);
    struct removal removal = {.last = search.best};
    if (status == GYRE_OK && search.best)
        status = walk_segments(log, collect, &removal);
    if (removal.lacks_memory)
        status = log->link->host->error(GYRE_EXHAUSTED, "no memory for a purge of the log '%s'", log->name);
    if (status == GYRE_OK)
        status = remove_in_order(log, &removal);
    free(removal.bases);
    return status;
}
