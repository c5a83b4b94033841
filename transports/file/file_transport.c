/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin gyre-file.so: opens a folder, and has the table of operations. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_transport.h"
#include "gyre/version.h"

static void file_close(gyre_transport_link *link)
{
    if (!link)
        return;
    file_logs_close(link);
    const int descriptors[] = {link->folder, link->logs, link->records, link->bells};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    file_lock_close(&link->record_lock);
    if (link->bell_words)
        munmap(link->bell_words, FILE_BELLS * sizeof(uint32_t));
    pthread_mutex_destroy(&link->mutex);
    pthread_mutex_destroy(&link->record_mutex);
    free(link);
}

static const gyre_parameter *find_parameter(const gyre_transport_desc *desc, const char *key)
{
    for (size_t i = 0; i < desc->parameter_count; i++)
        if (strcmp(desc->parameters[i].key, key) == 0)
            return &desc->parameters[i];
    return NULL;
}

static gyre_status open_bells(gyre_transport_link *link)
{
    const size_t size = FILE_BELLS * sizeof(uint32_t);
    struct stat about;
    link->bells = file_open_made(link, link->folder, "bells");
    if (link->bells < 0)
        return GYRE_UNAVAILABLE;
    if (fstat(link->bells, &about) != 0 ||
        ((size_t)about.st_size < size && ftruncate(link->bells, (off_t)size) != 0))
        return file_failed(link, "make", "bells");
    void *words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, link->bells, 0);
    if (words == MAP_FAILED)
        return file_failed(link, "map", "bells");
    link->bell_words = words;
    return GYRE_OK;
}

/* Brings the name of a folder that was made to the disk. */
static gyre_status settle_name(const gyre_transport_link *link, const char *folder)
{
    char copy[FILE_PATH_MAX];
    if (!link->sync)
        return GYRE_OK;
    snprintf(copy, sizeof copy, "%s", folder);
    const int above = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const gyre_status status =
        above >= 0 && fsync(above) == 0 ? GYRE_OK : file_failed(link, "bring to the disk the folder", folder);
    if (above >= 0)
        close(above);
    return status;
}

static gyre_status open_folders(gyre_transport_link *link, const char *folder, const char *app)
{
    const bool is_made = mkdir(folder, 0700) == 0;
    if (!is_made && errno != EEXIST)
        return file_failed(link, "make", folder);
    const gyre_status status = is_made ? settle_name(link, folder) : GYRE_OK;
    if (status != GYRE_OK)
        return status;
    const int above = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return file_failed(link, "open", folder);
    link->folder = file_open_folder(link, above, app);
    close(above);
    if (link->folder >= 0)
        link->logs = file_open_folder(link, link->folder, "logs");
    if (link->logs >= 0)
        link->records = file_open_folder(link, link->folder, "records");
    if (link->records < 0 ||
        file_lock_open(link, &link->record_lock, link->folder, "records.lock") != GYRE_OK)
        return GYRE_UNAVAILABLE;
    return open_bells(link);
}

static gyre_status check_folder(const gyre_transport_desc *desc, const gyre_parameter *folder)
{
    if (!folder || !folder->value[0])
        return desc->host->error(GYRE_CONFIG,
                                 "transport 'file' needs a folder that every member and client reaches: set "
                                 "folder in [cluster]");
    if (strlen(folder->value) + strlen(desc->app) + 2 > FILE_PATH_MAX)
        return desc->host->error(GYRE_CONFIG, "%s: the path of `folder` has at most %d bytes, found %zu",
                                 folder->origin, FILE_PATH_MAX - 2 - (int)strlen(desc->app),
                                 strlen(folder->value));
    return GYRE_OK;
}

static gyre_status file_open(const gyre_transport_desc *desc, gyre_transport_link **out)
{
    const gyre_parameter *folder = find_parameter(desc, "folder"), *sync = find_parameter(desc, "sync"),
                         *reach = find_parameter(desc, "reach_ms");
    *out = NULL;
    gyre_status status = check_folder(desc, folder);
    if (status != GYRE_OK)
        return status;
    gyre_transport_link *link = calloc(1, sizeof *link);
    if (!link)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a transport");
    *link = (gyre_transport_link){.host = desc->host,
                                  .folder = -1,
                                  .logs = -1,
                                  .records = -1,
                                  .record_lock.file = -1,
                                  .bells = -1,
                                  .reach_ns = reach ? strtoull(reach->value, NULL, 10) * 1000000 : 0,
                                  .sync = sync && strcmp(sync->value, "true") == 0};
    snprintf(link->path, sizeof link->path, "%s/%s", folder->value, desc->app);
    pthread_mutex_init(&link->mutex, NULL);
    pthread_mutex_init(&link->record_mutex, NULL);
    status = open_folders(link, folder->value, desc->app);
    if (status != GYRE_OK) {
        file_close(link);
        return status;
    }
    *out = link;
    return GYRE_OK;
}

static const gyre_transport_ops ops = {.size = sizeof ops,
                                       .open = file_open,
                                       .close = file_close,
                                       .append = file_append,
                                       .read = file_read,
                                       .last = file_last,
                                       .wait = file_wait,
                                       .purge = file_purge,
                                       .record_get = file_record_get,
                                       .record_put = file_record_put,
                                       .record_list = file_record_list};

const gyre_transport_plugin gyre_transport = {.magic = GYRE_TRANSPORT_MAGIC,
                                              .abi_major = GYRE_TRANSPORT_MAJOR,
                                              .abi_minor = GYRE_TRANSPORT_MINOR,
                                              .size = sizeof(gyre_transport_plugin),
                                              .name = "file",
                                              .build = GYRE_VERSION_TEXT,
                                              .ops = &ops};
