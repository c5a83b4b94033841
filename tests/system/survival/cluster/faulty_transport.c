/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport in front of another one, FAULTY_INNER (a file), whose writes of marks in places and of dead letters fail now and then: one in three is made and said
 * to be a TIMEOUT, and one in three is not made.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster/format.h"
#include "gyre/transport.h"

struct gyre_transport_link {
    const gyre_transport_ops *ops;
    gyre_transport_link *inner;
    const gyre_host *host;
    uint32_t calls; /* atomic */
};

static gyre_status fail(const gyre_transport_link *link, gyre_status status)
{
    return link->host->error(status, "a fault of the test");
}

/* What the next write does: 0: works, 1: works and says TIMEOUT, 2: does not take place. */
static uint32_t next_fault(gyre_transport_link *link)
{
    return __atomic_add_fetch(&link->calls, 1, __ATOMIC_RELAXED) % 3;
}

static gyre_status open_link(const gyre_transport_desc *desc, gyre_transport_link **out)
{
    gyre_transport_link *link = calloc(1, sizeof *link);
    void *file = dlopen(getenv("FAULTY_INNER"), RTLD_NOW | RTLD_LOCAL);
    const gyre_transport_plugin *plugin = file ? dlsym(file, GYRE_TRANSPORT_SYMBOL) : NULL;
    *out = NULL;
    if (!link || !plugin) {
        free(link);
        return desc->host->error(GYRE_UNAVAILABLE, "the inner transport is not there");
    }
    link->ops = plugin->ops;
    link->host = desc->host;
    const gyre_status status = link->ops->open(desc, &link->inner);
    if (status == GYRE_OK)
        *out = link;
    else
        free(link);
    return status;
}

static void close_link(gyre_transport_link *link)
{
    if (link)
        link->ops->close(link->inner);
    free(link);
}

static gyre_status append(gyre_transport_link *link, const char *log, const gyre_transport_block *block,
                          uint64_t *number)
{
    const uint32_t fault = strncmp(log, "dead.", 5) == 0 ? next_fault(link) : 0;
    if (fault == 2)
        return fail(link, GYRE_UNAVAILABLE);
    const gyre_status status = link->ops->append(link->inner, log, block, number);
    return fault == 1 && status == GYRE_OK ? fail(link, GYRE_TIMEOUT) : status;
}

/* Marks alone: a place that is taken with a failure is given up at once, as it should be. */
static bool has_mark(const char *name, const void *bytes, size_t size)
{
    struct gyre_cluster_place place;
    if (strncmp(name, "place.", 6) != 0 || size != sizeof place)
        return false;
    memcpy(&place, bytes, sizeof place);
    return place.owner[0] && place.trial.block && place.trial.epoch == place.epoch;
}

static gyre_status record_put(gyre_transport_link *link, const char *name, const void *bytes,
                              size_t byte_count, uint64_t expected, uint64_t *revision)
{
    const uint32_t fault = has_mark(name, bytes, byte_count) ? next_fault(link) : 0;
    if (fault == 2)
        return fail(link, GYRE_UNAVAILABLE);
    const gyre_status status =
        link->ops->record_put(link->inner, name, bytes, byte_count, expected, revision);
    return fault == 1 && status == GYRE_OK ? fail(link, GYRE_TIMEOUT) : status;
}

static gyre_status read_block(gyre_transport_link *link, const char *log, uint64_t after, void *bytes,
                              size_t room, size_t *byte_count, uint64_t *number)
{
    return link->ops->read(link->inner, log, after, bytes, room, byte_count, number);
}

static gyre_status last(gyre_transport_link *link, const char *log, uint64_t *number)
{
    return link->ops->last(link->inner, log, number);
}

static gyre_status wait_for(gyre_transport_link *link, const char *log, uint64_t after, uint64_t deadline_ns)
{
    return link->ops->wait(link->inner, log, after, deadline_ns);
}

static gyre_status purge(gyre_transport_link *link, const char *log, uint64_t below)
{
    return link->ops->purge(link->inner, log, below);
}

static gyre_status record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                              size_t *byte_count, uint64_t *revision)
{
    return link->ops->record_get(link->inner, name, bytes, room, byte_count, revision);
}

static gyre_status record_list(gyre_transport_link *link, const char *prefix,
                               int (*each)(void *context, const char *name), void *context)
{
    return link->ops->record_list(link->inner, prefix, each, context);
}

static const gyre_transport_ops ops = {.size = sizeof ops,
                                       .open = open_link,
                                       .close = close_link,
                                       .append = append,
                                       .read = read_block,
                                       .last = last,
                                       .wait = wait_for,
                                       .purge = purge,
                                       .record_get = record_get,
                                       .record_put = record_put,
                                       .record_list = record_list};

GYRE_BACKEND_EXPORT const gyre_transport_plugin gyre_transport = {.magic = GYRE_TRANSPORT_MAGIC,
                                                                  .abi_major = GYRE_TRANSPORT_MAJOR,
                                                                  .abi_minor = GYRE_TRANSPORT_MINOR,
                                                                  .size = sizeof gyre_transport,
                                                                  .name = "faulty",
                                                                  .build = "test",
                                                                  .ops = &ops};
