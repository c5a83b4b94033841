/* SPDX-License-Identifier: Apache-2.0 */
/* See power.h: recording. The record is one block of shared memory; a lock orders the calls of threads. */
#include "power_record.h"

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

enum { HANDLES_MAX = 1024 };

struct power_record *power_recorded;
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

_Noreturn void power_end(const char *what)
{
    fprintf(stderr, "power: %s: %s\n", what, strerror(errno));
    abort();
}

/* Under the lock. */
static struct power_call_made *add_call(enum power_kind kind, int file)
{
    power_must(power_recorded->call_count < CALLS_MAX, "too many calls");
    struct power_call_made *call = &power_recorded->calls[power_recorded->call_count++];
    *call = (struct power_call_made){.kind = kind, .file = file};
    return call;
}

static void add_bytes(struct power_call_made *call, const void *from, uint64_t size)
{
    power_must(power_recorded->byte_count + size <= BYTES_MAX, "too many bytes");
    call->bytes = power_recorded->byte_count;
    call->size = size;
    memcpy(power_recorded->bytes + power_recorded->byte_count, from, size);
    power_recorded->byte_count += size;
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
    power_must(place >= 0 && strlen(name) < NAME_SIZE, "too many names, or one too long");
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
    int file = (int)power_recorded->file_count++;
    power_must(file < FILES_MAX, "too many files");
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
        struct power_call_made *call = add_call(WROTE, file);
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
    struct power_call_made *call = add_call(RENAMED, THE_FOLDER);
    snprintf(call->name, NAME_SIZE, "%s", name);
    snprintf(call->new_name, NAME_SIZE, "%s", new_name);
    int place = find_name(name);
    power_must(place >= 0, "a file that nobody opened is renamed");
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
    power_must(descriptor >= 0 && fstat(descriptor, &now) == 0, path);
    struct power_call_made *call = add_call(WROTE, file);
    call->bytes = power_recorded->byte_count;
    call->size = (uint64_t)now.st_size;
    power_must(power_recorded->byte_count + call->size <= BYTES_MAX, "too many bytes");
    power_must(read(descriptor, power_recorded->bytes + call->bytes, call->size) == (ssize_t)call->size,
               path);
    power_recorded->byte_count += call->size;
    __real_close(descriptor);
    add_call(SYNCED, file);
}

void power_record(const char *folder)
{
    if (!power_recorded)
        power_recorded = mmap(NULL, sizeof *power_recorded, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    power_must(power_recorded != MAP_FAILED && strlen(folder) < sizeof root, "no room for a record");
    power_recorded->call_count = power_recorded->byte_count = power_recorded->file_count =
        power_recorded->base = 0;
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
    power_recorded->base = power_recorded->call_count;
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
    return power_recorded->call_count;
}

uint64_t power_noted(uint64_t calls)
{
    while (calls-- > 0)
        if (power_recorded->calls[calls].kind == NOTED)
            return power_recorded->calls[calls].offset;
    return 0;
}
