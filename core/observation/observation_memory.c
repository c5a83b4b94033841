/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the observation file and its memory (observation_memory.h). The file is locked before it gets its name, so no reader takes
 * a living writer for a dead one.
 */
#include "core/observation/observation_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_write.h"
#include "gyre/lack.h"
#include "gyre/version.h"
#include "gyre/waiting.h"

enum { LEFT_MAX = 256, PAGE = 4096, NEW_SECONDS = 10 };

/* ---- pages ---- */

/* Allocates the pages of a range of the file. Returns 0, or an errno. */
static int allocate(int file, size_t offset, size_t size)
{
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    const int error = posix_fallocate(file, (off_t)offset, (off_t)size);
    gyre_file_hush_end(&hush);
    return error;
}

static bool back(struct gyre_observation *observation, size_t offset, size_t size)
{
    for (size_t piece = offset / GYRE_OBSERVATION_PIECE;
         piece <= (offset + size - 1) / GYRE_OBSERVATION_PIECE; piece++) {
        if (observation->backed[piece])
            continue;
        if (allocate(observation->file, piece * GYRE_OBSERVATION_PIECE, GYRE_OBSERVATION_PIECE) != 0)
            return false;
        observation->backed[piece] = true;
    }
    return true;
}

void *gyre_observation_at(struct gyre_observation *observation, enum gyre_observe_part_kind part,
                          uint64_t number)
{
    const gyre_observe_part *at = &observation->head->parts[part - 1];
    const size_t offset = at->offset + number * at->stride;
    return back(observation, offset, at->stride) ? observation->memory + offset : NULL;
}

/* ---- the head ---- */

static size_t lay_out(gyre_observe_head *head, enum gyre_tracing tracing)
{
    static const gyre_observe_part parts[] = {
        {GYRE_OBSERVE_RECORDS, sizeof(gyre_observe_record), 0, GYRE_OBSERVATION_RECORDS},
        {GYRE_OBSERVE_VALUES, GYRE_OBSERVE_WORDS * sizeof(uint64_t), 0, GYRE_OBSERVATION_RECORDS},
        {GYRE_OBSERVE_TROUBLES, sizeof(gyre_observe_trouble), 0, GYRE_OBSERVATION_TROUBLES},
        {GYRE_OBSERVE_EVENTS, sizeof(gyre_observe_event), 0, GYRE_OBSERVATION_EVENTS},
        {GYRE_OBSERVE_HISTOGRAMS, sizeof(gyre_observe_histogram), 0, GYRE_OBSERVATION_HISTOGRAMS},
        {GYRE_OBSERVE_TRACE, sizeof(gyre_observe_span), 0, GYRE_OBSERVATION_SPANS},
        {GYRE_OBSERVE_BLOCKS, sizeof(gyre_observe_block), 0, GYRE_OBSERVATION_BLOCKS},
    };
    size_t offset = PAGE;
    head->part_count = sizeof parts / sizeof parts[0];
    for (uint32_t i = 0; i < head->part_count; i++) {
        head->parts[i] = parts[i];
        head->parts[i].offset = offset;
        if (parts[i].kind == GYRE_OBSERVE_TRACE && tracing == GYRE_TRACING_NEVER)
            head->parts[i].count = 0;
        offset = (offset + head->parts[i].count * parts[i].stride + PAGE - 1) / PAGE * PAGE;
    }
    return (offset + GYRE_OBSERVATION_PIECE - 1) / GYRE_OBSERVATION_PIECE * GYRE_OBSERVATION_PIECE;
}

static uint64_t real_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void write_head(struct gyre_observation *observation, const gyre_observe_head *layout, uint64_t start,
                       uint64_t every_ns)
{
    gyre_observe_head *head = observation->head;
    *head = *layout;
    head->magic = GYRE_OBSERVE_MAGIC;
    head->head_size = sizeof *head;
    head->pid = (uint32_t)observation->pid;
    head->process_start = start;
    head->started_ns = head->alive_ns = gyre_clock_ns();
    head->started_real_ns = head->alive_real_ns = real_ns();
    head->every_ns = every_ns;
    snprintf(head->program, sizeof head->program, "%s", program_invocation_short_name);
    snprintf(head->release, sizeof head->release, "%s", GYRE_VERSION_TEXT);
    __atomic_store_n(&head->version, GYRE_OBSERVE_VERSION, __ATOMIC_RELEASE);
}

/* ---- what dead processes left ---- */

struct left_file {
    char name[64];
    time_t written;
};

static int newer_first(const void *one, const void *other)
{
    const time_t a = ((const struct left_file *)one)->written, b = ((const struct left_file *)other)->written;
    return (a < b) - (a > b);
}

/* Adds a file of this user whose writer is dead. A file that has no name yet may be so new that its writer is about to lock it. */
static void note_left(int folder, const char *name, struct left_file *left, size_t *count)
{
    pid_t pid;
    uint64_t start;
    struct stat about;
    const bool unnamed = name[0] == '.';
    if (*count == LEFT_MAX || strlen(name) >= sizeof left->name ||
        !gyre_observation_file_name(name + unnamed, &pid, &start))
        return;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        (!unnamed || about.st_mtime + NEW_SECONDS < time(NULL)) && !gyre_observation_is_written(file)) {
        snprintf(left[*count].name, sizeof left->name, "%s", name);
        left[(*count)++].written = about.st_mtime;
    }
    close(file);
}

/* Removes a file, and that of those who asked its writer for spans. */
static void remove_left(int folder, const char *name)
{
    char path[GYRE_OBSERVATION_PATH_MAX];
    unlinkat(folder, name, 0);
    if (gyre_observation_ask_path(name, path))
        unlinkat(folder, path, 0);
}

/* Removes the oldest files of dead processes, so that programs that crash again and again do not fill the memory. */
static void remove_oldest(int folder, unsigned keep)
{
    size_t count = 0;
    struct left_file *left = calloc(LEFT_MAX, sizeof *left);
    const int copy = left ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; files && (entry = readdir(files));)
        note_left(folder, entry->d_name, left, &count);
    if (files)
        closedir(files);
    else if (copy >= 0)
        close(copy);
    if (count > keep) {
        qsort(left, count, sizeof *left, newer_first);
        for (size_t i = keep; i < count; i++)
            remove_left(folder, left[i].name);
    }
    free(left);
}

/* ---- the file ---- */

/* Sets the size of the new file, allocates its first pages and maps it. Returns 0, or an errno. */
static int map_file(struct gyre_observation *observation)
{
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    int error = ftruncate(observation->file, (off_t)observation->size) == 0 ? 0 : errno;
    gyre_file_hush_end(&hush);
    if (!error)
        error = allocate(observation->file, 0, GYRE_OBSERVATION_PIECE);
    if (error)
        return error;
    void *memory = mmap(NULL, observation->size, PROT_READ | PROT_WRITE, MAP_SHARED, observation->file, 0);
    if (memory == MAP_FAILED)
        return errno;
    observation->memory = memory;
    observation->head = memory;
    observation->backed[0] = true;
    return 0;
}

/* Makes the file in an open folder, under a name that no reader looks at, and then gives it its name. Returns 0, or an errno. */
static int make_in(int folder, struct gyre_observation *observation, const struct gyre_observation_desc *desc,
                   uint64_t start)
{
    char made[64], name[64];
    gyre_observe_head layout = {0};
    observation->size = lay_out(&layout, desc->tracing);
    snprintf(name, sizeof name, "%ld-%" PRIu64 ".obs", (long)observation->pid, start);
    snprintf(made, sizeof made, ".%s", name);
    unlinkat(folder, made, 0); /* a namespace of processes may have had this number before */
    observation->file =
        openat(folder, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (observation->file < 0)
        return errno;
    int error = flock(observation->file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (!error && fchmod(observation->file, desc->mode) != 0)
        error = errno;
    if (!error)
        error = map_file(observation);
    if (!error)
        write_head(observation, &layout, start, desc->every_ns);
    if (!error && renameat(folder, made, folder, name) != 0)
        error = errno;
    if (!error)
        return 0;
    unlinkat(folder, made, 0);
    gyre_observation_file_finish(observation);
    return error;
}

gyre_status gyre_observation_file_make(struct gyre_observation *observation,
                                       const struct gyre_observation_desc *desc)
{
    char path[GYRE_OBSERVATION_PATH_MAX] = "", state;
    int error = ENOENT;
    uint64_t start = 0;
    observation->pid = getpid();
    gyre_observation_process(observation->pid, &start, &state); /* without /proc the start is 0 */
    for (unsigned which = 0; which < GYRE_OBSERVATION_FOLDERS && error; which++) {
        if (!gyre_observation_folder(desc->folder, which, path))
            continue;
        const int folder = gyre_observation_folder_open(desc->folder, path, true);
        error = folder < 0 ? errno : 0;
        if (!error) {
            remove_oldest(folder, desc->keep);
            error = make_in(folder, observation, desc, start);
            close(folder);
        }
    }
    if (error)
        return gyre_error_set(gyre_lack_status(error, GYRE_UNAVAILABLE),
                              "this process cannot be observed from outside: no file can be made in '%s' "
                              "(%s): name another folder in observe.folder, or set observe.enabled = false",
                              path, strerror(error));
    const int length = snprintf(observation->path, sizeof observation->path, "%s/%ld-%" PRIu64 ".obs", path,
                                (long)observation->pid, start);
    if (length >= (int)sizeof observation->path)
        observation->path[0] = '\0';
    return GYRE_OK;
}

void gyre_observation_file_finish(struct gyre_observation *observation)
{
    if (observation->memory)
        munmap(observation->memory, observation->size);
    if (observation->file >= 0)
        close(observation->file);
    observation->memory = NULL;
    observation->head = NULL;
    observation->file = -1;
}
