/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the transport of [cluster] and calls its operations (transport.h). No locks: constant between open and close. */
#include "core/transport/transport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/places.h"
#include "core/loader/transport_plugin.h"

struct gyre_transport {
    struct gyre_host_services host;
    const gyre_transport_ops *ops;
    gyre_transport_link *link;
};

bool gyre_transport_is_name(const char *name)
{
    const size_t length = strlen(name);
    return length >= 1 && length <= GYRE_TRANSPORT_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == length &&
           name[0] != '.' && name[length - 1] != '.' && !strstr(name, "..");
}

static gyre_status check_name(const char *name)
{
    return gyre_transport_is_name(name)
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_INVALID,
                     "'%.40s' is no name of a log or record: expected 1 to %d of a-z, A-Z, 0-9, '-', '_' "
                     "and single '.' inside",
                     name, GYRE_TRANSPORT_NAME_MAX);
}

static gyre_status check_app(const struct gyre_config *config)
{
    enum { APP_MAX = 40 };
    const char *app = gyre_config_text(config, GYRE_SECTION_CLUSTER, NULL, "app");
    if (app[0] && gyre_transport_is_name(app) && strlen(app) <= APP_MAX && !strchr(app, '.'))
        return GYRE_OK;
    return gyre_config_blame(
        config, GYRE_SECTION_CLUSTER, NULL, "app",
        gyre_error_set(GYRE_CONFIG,
                       "[cluster] needs an `app`, the name that all members and clients of a "
                       "cluster share: expected 1 to %d of a-z, A-Z, 0-9, '-' and '_', found '%.50s'",
                       APP_MAX, app));
}

static gyre_status load_plugin(const struct gyre_config *config, const gyre_transport_plugin **out)
{
    char path[PATH_MAX];
    const char *name = gyre_config_text(config, GYRE_SECTION_CLUSTER, NULL, "transport");
    if (!name[0] || !gyre_transport_is_name(name))
        return gyre_config_blame(
            config, GYRE_SECTION_CLUSTER, NULL, "transport",
            gyre_error_set(GYRE_CONFIG, "[cluster] needs a `transport`, such as `file`"));
    const char *library = gyre_config_text(config, GYRE_SECTION_CLUSTER, NULL, "library");
    if (library[0])
        snprintf(path, sizeof path, "%s", library);
    else
        snprintf(path, sizeof path, "%s/transports/gyre-%s.so", gyre_place_home(), name);
    if (access(path, F_OK) != 0)
        return gyre_config_blame(
            config, GYRE_SECTION_CLUSTER, NULL, library[0] ? "library" : "transport",
            gyre_error_set(
                GYRE_NOT_FOUND,
                "there is no transport '%s': expected the file '%s'. If the name is right, this Gyre came without "
                "it: install the package that has it (Debian, Ubuntu: libgyre0.1-%s), or the library that it needs "
                "and build Gyre again, or name the file of another install of this version with `library` in "
                "[cluster] (docs/cluster.md)",
                name, path, name));
    return gyre_transport_load(path, out);
}

static gyre_status open_link(struct gyre_transport *transport, const struct gyre_config *config,
                             uint64_t deadline_ns)
{
    size_t count;
    const struct gyre_config_value *values = gyre_config_section(config, GYRE_SECTION_CLUSTER, NULL, &count);
    gyre_parameter *parameters = calloc(count + 1, sizeof *parameters);
    if (!parameters)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the settings of [cluster]");
    for (size_t i = 0; i < count; i++)
        parameters[i] = (gyre_parameter){values[i].key, values[i].text, values[i].origin};
    const gyre_transport_desc desc = {.size = sizeof desc,
                                      .host = &transport->host.table,
                                      .app = gyre_config_text(config, GYRE_SECTION_CLUSTER, NULL, "app"),
                                      .parameters = parameters,
                                      .parameter_count = count,
                                      .deadline_ns = deadline_ns};
    const gyre_status status = transport->ops->open(&desc, &transport->link);
    free(parameters);
    return status;
}

gyre_status gyre_transport_open(const struct gyre_config *config, gyre_log_function *log, void *log_context,
                                uint64_t deadline_ns, struct gyre_transport **out)
{
    const gyre_transport_plugin *plugin;
    *out = NULL;
    gyre_status status = check_app(config);
    if (status == GYRE_OK)
        status = load_plugin(config, &plugin);
    if (status != GYRE_OK)
        return status;
    struct gyre_transport *transport = calloc(1, sizeof *transport);
    if (!transport)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a transport");
    gyre_host_init(&transport->host, log, log_context);
    transport->ops = plugin->ops;
    status = open_link(transport, config, deadline_ns);
    if (status != GYRE_OK) {
        free(transport);
        return gyre_error_add(status, "transport '%s'", plugin->name);
    }
    *out = transport;
    return GYRE_OK;
}

void gyre_transport_close(struct gyre_transport *transport)
{
    if (!transport)
        return;
    transport->ops->close(transport->link);
    free(transport);
}

gyre_status gyre_transport_append(struct gyre_transport *transport, const char *log,
                                  const gyre_transport_block *block, uint64_t *number)
{
    uint64_t unused;
    const gyre_status status = check_name(log);
    return status == GYRE_OK ? transport->ops->append(transport->link, log, block, number ? number : &unused)
                             : status;
}

void gyre_transport_append_each(struct gyre_transport *transport, gyre_transport_entry *entries, size_t count)
{
    const gyre_transport_ops *ops = transport->ops;
    const bool has_each = ops->size >= offsetof(gyre_transport_ops, append_each) + sizeof ops->append_each;
    bool are_names = true;
    for (size_t i = 0; i < count; i++)
        are_names = are_names && gyre_transport_is_name(entries[i].log);
    if (count > 1 && are_names && has_each && ops->append_each) {
        ops->append_each(transport->link, entries, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        entries[i].status =
            gyre_transport_append(transport, entries[i].log, &entries[i].block, &entries[i].number);
}

bool gyre_transport_can_begin(const struct gyre_transport *transport)
{
    const gyre_transport_ops *ops = transport->ops;
    return ops->size >= offsetof(gyre_transport_ops, append_drop) + sizeof ops->append_drop &&
           ops->append_begin && ops->append_finish && ops->append_drop;
}

gyre_status gyre_transport_begin(struct gyre_transport *transport, gyre_transport_entry *entries,
                                 size_t count, gyre_transport_ticket **ticket)
{
    gyre_status status = GYRE_OK;
    *ticket = NULL;
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = check_name(entries[i].log);
    return status == GYRE_OK ? transport->ops->append_begin(transport->link, entries, count, ticket) : status;
}

gyre_status gyre_transport_finish(struct gyre_transport *transport, gyre_transport_ticket *ticket,
                                  uint64_t deadline_ns)
{
    return transport->ops->append_finish(transport->link, ticket, deadline_ns);
}

void gyre_transport_drop(struct gyre_transport *transport, gyre_transport_ticket *ticket)
{
    transport->ops->append_drop(transport->link, ticket);
}

gyre_status gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                void *bytes, size_t room, size_t *byte_count, uint64_t *number)
{
    gyre_status status = check_name(log);
    if (status == GYRE_OK)
        status = transport->ops->read(transport->link, log, after, bytes, room, byte_count, number);
    if (status == GYRE_OK && (*byte_count > room || *number <= after))
        return gyre_error_set(
            GYRE_INTERNAL,
            "the transport gave block %llu with %zu bytes, expected one behind %llu with %zu at most",
            (unsigned long long)*number, *byte_count, (unsigned long long)after, room);
    return status;
}

gyre_status gyre_transport_last(struct gyre_transport *transport, const char *log, uint64_t *number)
{
    const gyre_status status = check_name(log);
    return status == GYRE_OK ? transport->ops->last(transport->link, log, number) : status;
}

gyre_status gyre_transport_wait(struct gyre_transport *transport, const char *log, uint64_t after,
                                uint64_t deadline_ns)
{
    const gyre_status status = check_name(log);
    return status == GYRE_OK ? transport->ops->wait(transport->link, log, after, deadline_ns) : status;
}

gyre_status gyre_transport_purge(struct gyre_transport *transport, const char *log, uint64_t below)
{
    const gyre_status status = check_name(log);
    return status == GYRE_OK ? transport->ops->purge(transport->link, log, below) : status;
}

gyre_status gyre_transport_record_get(struct gyre_transport *transport, const char *name, void *bytes,
                                      size_t room, size_t *byte_count, uint64_t *revision)
{
    gyre_status status = check_name(name);
    *byte_count = 0;
    *revision = 0;
    if (status == GYRE_OK)
        status = transport->ops->record_get(transport->link, name, bytes, room, byte_count, revision);
    if (status == GYRE_OK && *byte_count > room)
        return gyre_error_set(GYRE_INTERNAL, "the transport gave a record of %zu bytes, expected %zu at most",
                              *byte_count, room);
    return status;
}

gyre_status gyre_transport_record_put(struct gyre_transport *transport, const char *name, const void *bytes,
                                      size_t byte_count, uint64_t expected, uint64_t *revision)
{
    const gyre_status status = check_name(name);
    return status == GYRE_OK
               ? transport->ops->record_put(transport->link, name, bytes, byte_count, expected, revision)
               : status;
}

gyre_status gyre_transport_record_list(struct gyre_transport *transport, const char *prefix,
                                       int (*each)(void *context, const char *name), void *context)
{
    return transport->ops->record_list(transport->link, prefix, each, context);
}
