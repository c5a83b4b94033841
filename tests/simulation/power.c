/* SPDX-License-Identifier: Apache-2.0 */
/* See power.h. The record is one block of shared memory; a lock in it orders the calls of threads. */
#include "power.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/random.h"

enum { CALLS_MAX = 1 << 17, BYTES_MAX = 64 << 20, FILES_MAX = 4096, NAMES_MAX = 8, HANDLES_MAX = 1024 };
enum { SECTOR = 512, NAME_SIZE = 64, NO_FILE = -1, THE_FOLDER = -2, THE_PARENT = -3 };

enum kind { MADE_FOLDER, CREATED, RENAMED, REMOVED, WROTE, CUT, SYNCED, SYNC_FAILED, NOTED };

struct call {
    enum kind kind;
    int file; /* its number, or THE_FOLDER, THE_PARENT */
    char name[NAME_SIZE], new_name[NAME_SIZE];
    uint64_t offset, size; /* `offset` of a note is its number */
    uint64_t bytes;        /* where they are */
};

struct record {
    uint64_t call_count, byte_count, file_count;
    uint64_t base; /* calls that make what was there at the beginning */
    struct call calls[CALLS_MAX];
    unsigned char bytes[BYTES_MAX];
};

static struct record *record;
static bool recording;
static char root[256];  /* the folder */
static char above[256]; /* its parent */
static int handles[HANDLES_MAX];
static struct {
    char name[NAME_SIZE];
    int file;
} names[NAMES_MAX]; /* as the program sees them */
static bool (*fails)(enum power_call call);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int __real_open(const char *path, int flags, ...);
int __real_close(int descriptor);
int __real_mkdir(const char *path, mode_t mode);
ssize_t __real_pwrite(int descriptor, const void *from, size_t size, off_t at);
int __real_ftruncate(int descriptor, off_t size);
int __real_fsync(int descriptor);
int __real_fdatasync(int descriptor);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int descriptor);
int __wrap_mkdir(const char *path, mode_t mode);
ssize_t __wrap_pwrite(int descriptor, const void *from, size_t size, off_t at);
int __wrap_ftruncate(int descriptor, off_t size);
int __wrap_fsync(int descriptor);
int __wrap_fdatasync(int descriptor);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);

/* ---- recording ---- */

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "power: %s: %s\n", what, strerror(errno));
    abort();
}

/* Under the lock. */
static struct call *add_call(enum kind kind, int file)
{
    must(record->call_count < CALLS_MAX, "too many calls");
    struct call *call = &record->calls[record->call_count++];
    *call = (struct call){.kind = kind, .file = file};
    return call;
}

static void add_bytes(struct call *call, const void *from, uint64_t size)
{
    must(record->byte_count + size <= BYTES_MAX, "too many bytes");
    call->bytes = record->byte_count;
    call->size = size;
    memcpy(record->bytes + record->byte_count, from, size);
    record->byte_count += size;
}

/* The name inside the folder; NULL: the path is not in it. */
static const char *inside(const char *path)
{
    size_t length = strlen(root);
    return recording && strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

static int find_name(const char *name)
{
    for (int i = 0; i < NAMES_MAX; i++)
        if (names[i].name[0] && strcmp(names[i].name, name) == 0)
            return i;
    return -1;
}

static void set_name(const char *name, int file)
{
    int place = find_name(name);
    for (int i = 0; place < 0 && i < NAMES_MAX; i++)
        if (!names[i].name[0])
            place = i;
    must(place >= 0 && strlen(name) < NAME_SIZE, "too many names, or one too long");
    snprintf(names[place].name, NAME_SIZE, "%s", name);
    names[place].file = file;
}

static void drop_name(const char *name)
{
    int place = find_name(name);
    if (place >= 0)
        names[place].name[0] = '\0';
}

static int new_file(const char *name)
{
    int file = (int)record->file_count++;
    must(file < FILES_MAX, "too many files");
    snprintf(add_call(CREATED, file)->name, NAME_SIZE, "%s", name);
    set_name(name, file);
    return file;
}

static int handle_of(int descriptor)
{
    return recording && descriptor >= 0 && descriptor < HANDLES_MAX ? handles[descriptor] : NO_FILE;
}

static int note_open(const char *path, const char *name, int flags)
{
    if (strcmp(path, root) == 0)
        return THE_FOLDER;
    if (strcmp(path, above) == 0)
        return THE_PARENT;
    if (!name)
        return NO_FILE;
    int place = find_name(name);
    int file = place >= 0 ? names[place].file : new_file(name);
    if (flags & O_TRUNC)
        add_call(CUT, file);
    return file;
}

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    int descriptor = __real_open(path, flags, mode);
    pthread_mutex_lock(&lock);
    if (recording && descriptor >= 0 && descriptor < HANDLES_MAX)
        handles[descriptor] = note_open(path, inside(path), flags);
    pthread_mutex_unlock(&lock);
    return descriptor;
}

int __wrap_close(int descriptor)
{
    pthread_mutex_lock(&lock);
    if (descriptor >= 0 && descriptor < HANDLES_MAX)
        handles[descriptor] = NO_FILE;
    pthread_mutex_unlock(&lock);
    return __real_close(descriptor);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    int result = __real_mkdir(path, mode);
    pthread_mutex_lock(&lock);
    if (recording && result == 0 && strcmp(path, root) == 0)
        add_call(MADE_FOLDER, THE_PARENT);
    pthread_mutex_unlock(&lock);
    return result;
}

static bool refused(enum power_call call)
{
    if (!fails || !fails(call))
        return false;
    errno = EIO;
    return true;
}

ssize_t __wrap_pwrite(int descriptor, const void *from, size_t size, off_t at)
{
    int file = handle_of(descriptor);
    if (file < 0)
        return __real_pwrite(descriptor, from, size, at);
    if (refused(POWER_WRITE))
        return -1;
    ssize_t wrote = __real_pwrite(descriptor, from, size, at);
    pthread_mutex_lock(&lock);
    if (wrote > 0) {
        struct call *call = add_call(WROTE, file);
        call->offset = (uint64_t)at;
        add_bytes(call, from, (uint64_t)wrote);
    }
    pthread_mutex_unlock(&lock);
    return wrote;
}

int __wrap_ftruncate(int descriptor, off_t size)
{
    int file = handle_of(descriptor), result = __real_ftruncate(descriptor, size);
    pthread_mutex_lock(&lock);
    if (file >= 0 && result == 0)
        add_call(CUT, file)->offset = (uint64_t)size;
    pthread_mutex_unlock(&lock);
    return result;
}

/* The disk is this record: nothing has to wait for a real one. */
static int sync_of(int file)
{
    bool failed = refused(POWER_SYNC);
    pthread_mutex_lock(&lock);
    add_call(failed ? SYNC_FAILED : SYNCED, file);
    pthread_mutex_unlock(&lock);
    errno = failed ? EIO : errno;
    return failed ? -1 : 0;
}

int __wrap_fsync(int descriptor)
{
    int file = handle_of(descriptor);
    return file == NO_FILE ? __real_fsync(descriptor) : sync_of(file);
}

int __wrap_fdatasync(int descriptor)
{
    int file = handle_of(descriptor);
    return file == NO_FILE ? __real_fdatasync(descriptor) : sync_of(file);
}

int __wrap_rename(const char *from, const char *to)
{
    const char *name = inside(from), *new_name = inside(to);
    if (!name || !new_name)
        return __real_rename(from, to);
    if (refused(POWER_RENAME) || __real_rename(from, to) != 0)
        return -1;
    pthread_mutex_lock(&lock);
    struct call *call = add_call(RENAMED, THE_FOLDER);
    snprintf(call->name, NAME_SIZE, "%s", name);
    snprintf(call->new_name, NAME_SIZE, "%s", new_name);
    int place = find_name(name);
    must(place >= 0, "a file that nobody opened is renamed");
    set_name(new_name, names[place].file);
    drop_name(name);
    pthread_mutex_unlock(&lock);
    return 0;
}

int __wrap_unlink(const char *path)
{
    const char *name = inside(path);
    int result = __real_unlink(path);
    pthread_mutex_lock(&lock);
    if (name && result == 0) {
        snprintf(add_call(REMOVED, THE_FOLDER)->name, NAME_SIZE, "%s", name);
        drop_name(name);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void take_file(const char *name)
{
    char path[sizeof root + NAME_SIZE + 1];
    struct stat now;
    snprintf(path, sizeof path, "%s/%s", root, name);
    int file = new_file(name), descriptor = __real_open(path, O_RDONLY | O_CLOEXEC);
    must(descriptor >= 0 && fstat(descriptor, &now) == 0, path);
    struct call *call = add_call(WROTE, file);
    call->bytes = record->byte_count;
    call->size = (uint64_t)now.st_size;
    must(record->byte_count + call->size <= BYTES_MAX, "too many bytes");
    must(read(descriptor, record->bytes + call->bytes, call->size) == (ssize_t)call->size, path);
    record->byte_count += call->size;
    __real_close(descriptor);
    add_call(SYNCED, file);
}

void power_record(const char *folder)
{
    if (!record)
        record = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(record != MAP_FAILED && strlen(folder) < sizeof root, "no room for a record");
    record->call_count = record->byte_count = record->file_count = record->base = 0;
    memset(names, 0, sizeof names);
    for (int i = 0; i < HANDLES_MAX; i++)
        handles[i] = NO_FILE;
    snprintf(root, sizeof root, "%s", folder);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(root, '/') - root), root);
    recording = true;
    DIR *open = opendir(folder);
    if (!open)
        return;
    add_call(MADE_FOLDER, THE_PARENT);
    add_call(SYNCED, THE_PARENT);
    for (struct dirent *entry; (entry = readdir(open));)
        if (entry->d_name[0] != '.')
            take_file(entry->d_name);
    closedir(open);
    add_call(SYNCED, THE_FOLDER);
    record->base = record->call_count;
}

void power_stop(void)
{
    recording = false;
}

void power_let_fail(bool (*function)(enum power_call call))
{
    fails = function;
}

void power_note(uint64_t number)
{
    pthread_mutex_lock(&lock);
    add_call(NOTED, NO_FILE)->offset = number;
    pthread_mutex_unlock(&lock);
}

uint64_t power_calls(void)
{
    return record->call_count;
}

uint64_t power_noted(uint64_t calls)
{
    while (calls-- > 0)
        if (record->calls[calls].kind == NOTED)
            return record->calls[calls].offset;
    return 0;
}

/* ---- what is left ---- */

struct file {
    unsigned char *disk; /* what is on the disk for certain */
    uint64_t size;
    uint64_t *pending; /* calls whose effect may be there */
    uint64_t pending_count;
};

struct state {
    uint64_t random;
    struct file *files;
    bool folder_made, folder_synced;
    struct {
        char name[NAME_SIZE];
        int file;
    } names[NAMES_MAX];
    uint64_t *changes; /* of names, not synced */
    uint64_t change_count;
};

static uint64_t draw(struct state *state, uint64_t below)
{
    return random_below(&state->random, below);
}

/* None, all, or any number in between. */
static uint64_t draw_part(struct state *state, uint64_t whole)
{
    uint64_t way = draw(state, 4);
    return way == 0 ? 0 : way == 1 ? whole : draw(state, whole + 1);
}

static uint64_t size_behind(const struct file *file, uint64_t count)
{
    uint64_t size = file->size;
    for (uint64_t i = 0; i < count; i++) {
        const struct call *call = &record->calls[file->pending[i]];
        uint64_t end = call->offset + call->size;
        size = call->kind == CUT || end > size ? end : size;
    }
    return size;
}

/* What one pending call makes of the bytes [from, to) of the file, which stand at `sector`. */
static void apply(const struct call *call, unsigned char *sector, uint64_t from, uint64_t to)
{
    uint64_t end = call->offset + call->size;
    if (call->kind == CUT) {
        uint64_t begin = call->offset > from ? call->offset : from;
        if (begin < to)
            memset(sector + (begin - from), 0, to - begin);
        return;
    }
    uint64_t begin = call->offset > from ? call->offset : from;
    end = end < to ? end : to;
    if (begin < end)
        memcpy(sector + (begin - from), record->bytes + call->bytes + (begin - call->offset), end - begin);
}

static bool touches(const struct file *file, uint64_t from, uint64_t to)
{
    for (uint64_t i = 0; i < file->pending_count; i++) {
        const struct call *call = &record->calls[file->pending[i]];
        if (call->kind == CUT || (call->offset < to && call->offset + call->size > from))
            return true;
    }
    return false;
}

static void settle_sector(struct state *state, const struct file *file, unsigned char *bytes, uint64_t from,
                          uint64_t to)
{
    uint64_t count = draw_part(state, file->pending_count);
    if (from >= file->size && draw(state, 8) == 0) /* nothing was there: it may be anything */
        for (uint64_t at = from; at < to; at++)
            bytes[at] = (unsigned char)draw(state, 256);
    for (uint64_t i = 0; i < count; i++)
        apply(&record->calls[file->pending[i]], bytes + from, from, to);
}

/* Any of the states that the file may be in becomes what is on the disk. `all`: everything is written. */
static void settle(struct state *state, struct file *file, bool all)
{
    uint64_t size = size_behind(file, all ? file->pending_count : draw_part(state, file->pending_count));
    unsigned char *bytes = calloc(1, size + 1);
    must(bytes != NULL, "no memory");
    memcpy(bytes, file->disk, size < file->size ? size : file->size);
    for (uint64_t i = 0; all && i < file->pending_count; i++)
        apply(&record->calls[file->pending[i]], bytes, 0, size);
    for (uint64_t from = 0; !all && from < size; from += SECTOR) {
        uint64_t to = from + SECTOR < size ? from + SECTOR : size;
        if (touches(file, from, to))
            settle_sector(state, file, bytes, from, to);
    }
    free(file->disk);
    file->disk = bytes;
    file->size = size;
    file->pending_count = 0;
}

static void change_name(struct state *state, const char *name, int file)
{
    int place = -1;
    for (int i = 0; i < NAMES_MAX; i++)
        if (strcmp(state->names[i].name, name) == 0)
            place = i;
    for (int i = 0; place < 0 && i < NAMES_MAX; i++)
        if (!state->names[i].name[0])
            place = i;
    must(place >= 0, "too many names");
    snprintf(state->names[place].name, NAME_SIZE, "%s", file < 0 ? "" : name);
    state->names[place].file = file;
}

static void change_names(struct state *state, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct call *call = &record->calls[state->changes[i]];
        int file = call->file;
        for (int k = 0; call->kind == RENAMED && k < NAMES_MAX; k++)
            if (strcmp(state->names[k].name, call->name) == 0)
                file = state->names[k].file;
        change_name(state, call->name, call->kind == CREATED ? file : NO_FILE);
        if (call->kind == RENAMED)
            change_name(state, call->new_name, file);
    }
    state->change_count = 0;
}

static void sync_one(struct state *state, int file, bool worked)
{
    if (file == THE_PARENT) {
        state->folder_synced = state->folder_synced || (worked && state->folder_made);
    } else if (file == THE_FOLDER) {
        change_names(state, worked ? state->change_count : draw_part(state, state->change_count));
    } else if (file >= 0) {
        settle(state, &state->files[file], worked);
    }
}

static void repeat(struct state *state, uint64_t number)
{
    const struct call *call = &record->calls[number];
    struct file *file = call->file >= 0 ? &state->files[call->file] : NULL;
    switch (call->kind) {
    case MADE_FOLDER:
        state->folder_made = true;
        break;
    case CREATED:
    case RENAMED:
    case REMOVED:
        state->changes[state->change_count++] = number;
        break;
    case WROTE:
    case CUT:
        file->pending = realloc(file->pending, (file->pending_count + 1) * sizeof *file->pending);
        must(file->pending != NULL, "no memory");
        file->pending[file->pending_count++] = number;
        break;
    case SYNCED:
    case SYNC_FAILED:
        sync_one(state, call->file, call->kind == SYNCED);
        break;
    case NOTED:
        break;
    }
}

static void write_left(const struct state *state, const char *into)
{
    char path[512];
    must(__real_mkdir(into, 0700) == 0, into);
    for (int i = 0; i < NAMES_MAX; i++) {
        if (!state->names[i].name[0])
            continue;
        const struct file *file = &state->files[state->names[i].file];
        snprintf(path, sizeof path, "%s/%s", into, state->names[i].name);
        int descriptor = __real_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        must(descriptor >= 0, path);
        must(__real_pwrite(descriptor, file->disk, file->size, 0) == (ssize_t)file->size, path);
        __real_close(descriptor);
    }
}

void power_fail(uint64_t calls, uint64_t seed, const char *into)
{
    struct state state = {.random = random_begin(seed + 1)};
    state.files = calloc(record->file_count + 1, sizeof *state.files);
    state.changes = calloc(record->call_count + 1, sizeof *state.changes);
    must(state.files && state.changes, "no memory");
    for (uint64_t i = 0; i < record->file_count; i++)
        must((state.files[i].disk = calloc(1, 1)) != NULL, "no memory");
    for (uint64_t i = 0; i < calls || i < record->base; i++)
        repeat(&state, i);
    change_names(&state, draw_part(&state, state.change_count));
    for (uint64_t i = 0; i < record->file_count; i++)
        settle(&state, &state.files[i], false);
    if (state.folder_synced || (state.folder_made && draw(&state, 2)))
        write_left(&state, into);
    for (uint64_t i = 0; i < record->file_count; i++) {
        free(state.files[i].disk);
        free(state.files[i].pending);
    }
    free(state.files);
    free(state.changes);
}
