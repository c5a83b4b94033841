/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk of files, as journals have it (core/journal/file.c), under loss of power (power.h): see world.h. The
 * files are in a folder of their own in memory; after a loss of power the next life finds another one.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "power.h"
#include "world.h"

static struct {
    char base[64], folder[96];
    unsigned lives;
} place;

static const struct sim_disk *disk_in_use;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "disk: %s: %s\n", what, gyre_error_text());
    exit(EXIT_FAILURE);
}

static bool fails(enum power_call call)
{
    (void)call;
    return disk_in_use && disk_in_use->refuses && disk_in_use->refuses();
}

static void remove_folder(const char *folder)
{
    char path[384];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    if (open)
        closedir(open);
    rmdir(folder);
}

static void next_folder(void)
{
    snprintf(place.folder, sizeof place.folder, "%s/%u", place.base, ++place.lives);
}

static void remove_base(void)
{
    remove_folder(place.folder);
    rmdir(place.base);
}

static void open_file(struct sim_disk *disk)
{
    power_let_fail(NULL); /* a program that cannot open its journal says so, and is started again */
    must(gyre_journal_file_open(place.folder, "sim", true, &disk->file) == GYRE_OK, "no journal");
    power_let_fail(fails);
}

void sim_disk_begin(struct sim_disk *disk)
{
    if (!place.base[0]) {
        snprintf(place.base, sizeof place.base, "%s/gyre-power-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        must(mkdtemp(place.base) != NULL, "no folder");
        atexit(remove_base);
    }
    next_folder();
    power_record(place.folder);
    disk_in_use = disk;
    open_file(disk);
}

static gyre_status disk_append(void *context, const void *bytes, size_t size, size_t tail)
{
    struct sim_disk *disk = context;
    return gyre_journal_file_disk.append(&disk->file, bytes, size, tail);
}

static gyre_status disk_sync(void *context)
{
    struct sim_disk *disk = context;
    return gyre_journal_file_disk.sync(&disk->file);
}

static gyre_status disk_begin_anew(void *context)
{
    struct sim_disk *disk = context;
    return gyre_journal_file_disk.begin_anew(&disk->file);
}

static gyre_status disk_end_anew(void *context, bool keep)
{
    struct sim_disk *disk = context;
    return gyre_journal_file_disk.end_anew(&disk->file, keep);
}

const struct gyre_journal_disk sim_disk_functions = {
    .append = disk_append,
    .sync = disk_sync,
    .begin_anew = disk_begin_anew,
    .end_anew = disk_end_anew,
};

static void lose_power(uint64_t random)
{
    char before[sizeof place.folder];
    snprintf(before, sizeof before, "%s", place.folder);
    next_folder();
    power_fail(power_calls(), random, place.folder);
    remove_folder(before);
    power_record(place.folder);
}

/* In one of four cases only the program dies: what it wrote is there, and still not on the disk. */
void sim_disk_crash(struct sim_disk *disk, uint64_t random)
{
    power_let_fail(NULL);
    gyre_journal_file_close(&disk->file);
    if (random % 4 != 0)
        lose_power(random);
    open_file(disk);
    free(disk->bytes); /* without a file there is nothing, which the simulation finds wrong */
    (void)gyre_journal_file_read(&disk->file, &disk->bytes, &disk->size);
}

void sim_disk_finish(struct sim_disk *disk)
{
    gyre_journal_file_close(&disk->file);
    power_stop();
    remove_folder(place.folder);
    free(disk->bytes);
    *disk = (struct sim_disk){0};
    disk_in_use = NULL;
}
