/* SPDX-License-Identifier: Apache-2.0 */
/* See power.h: what is left, from the record and a seed. Nobody records meanwhile what is written here. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power_record.h"
#include "tests/random.h"

enum { SECTOR = 512 };

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
        const struct power_call_made *call = &power_recorded->calls[file->pending[i]];
        uint64_t end = call->offset + call->size;
        size = call->kind == CUT || end > size ? end : size;
    }
    return size;
}

/* What one pending call makes of the bytes [from, to) of the file, which stand at `sector`. */
static void apply(const struct power_call_made *call, unsigned char *sector, uint64_t from, uint64_t to)
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
        memcpy(sector + (begin - from), power_recorded->bytes + call->bytes + (begin - call->offset),
               end - begin);
}

static bool touches(const struct file *file, uint64_t from, uint64_t to)
{
    for (uint64_t i = 0; i < file->pending_count; i++) {
        const struct power_call_made *call = &power_recorded->calls[file->pending[i]];
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
        apply(&power_recorded->calls[file->pending[i]], bytes + from, from, to);
}

/* Any of the states that the file may be in becomes what is on the disk. `all`: everything is written. */
static void settle(struct state *state, struct file *file, bool all)
{
    uint64_t size = size_behind(file, all ? file->pending_count : draw_part(state, file->pending_count));
    unsigned char *bytes = calloc(1, size + 1);
    power_must(bytes && file->disk, "no memory");
    if (bytes && file->disk)
        memcpy(bytes, file->disk, size < file->size ? size : file->size);
    for (uint64_t i = 0; all && i < file->pending_count; i++)
        apply(&power_recorded->calls[file->pending[i]], bytes, 0, size);
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
    power_must(place >= 0, "too many names");
    snprintf(state->names[place].name, NAME_SIZE, "%s", file < 0 ? "" : name);
    state->names[place].file = file;
}

static void change_names(struct state *state, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct power_call_made *call = &power_recorded->calls[state->changes[i]];
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
    const struct power_call_made *call = &power_recorded->calls[number];
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
        power_must(file->pending != NULL, "no memory");
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
    power_must(mkdir(into, 0700) == 0, into);
    for (int i = 0; i < NAMES_MAX; i++) {
        if (!state->names[i].name[0])
            continue;
        const struct file *file = &state->files[state->names[i].file];
        snprintf(path, sizeof path, "%s/%s", into, state->names[i].name);
        int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        power_must(descriptor >= 0, path);
        power_must(pwrite(descriptor, file->disk, file->size, 0) == (ssize_t)file->size, path);
        close(descriptor);
    }
}

void power_fail(uint64_t calls, uint64_t seed, const char *into)
{
    struct state state = {.random = random_begin(seed + 1)};
    state.files = calloc(power_recorded->file_count + 1, sizeof *state.files);
    state.changes = calloc(power_recorded->call_count + 1, sizeof *state.changes);
    power_must(state.files && state.changes, "no memory");
    for (uint64_t i = 0; i < power_recorded->file_count; i++)
        power_must((state.files[i].disk = calloc(1, 1)) != NULL, "no memory");
    for (uint64_t i = 0; i < calls || i < power_recorded->base; i++)
        repeat(&state, i);
    change_names(&state, draw_part(&state, state.change_count));
    for (uint64_t i = 0; i < power_recorded->file_count; i++)
        settle(&state, &state.files[i], false);
    if (state.folder_synced || (state.folder_made && draw(&state, 2)))
        write_left(&state, into);
    for (uint64_t i = 0; i < power_recorded->file_count; i++) {
        free(state.files[i].disk);
        free(state.files[i].pending);
    }
    free(state.files);
    free(state.changes);
}
