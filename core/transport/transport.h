/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to what the members and clients of a cluster share: logs and records (gyre/transport.h), through the plugin that
 * [cluster] names. Threads: any; close when no other call is under way. Statuses: those of the operations.
 */
#ifndef GYRE_CORE_TRANSPORT_TRANSPORT_H
#define GYRE_CORE_TRANSPORT_TRANSPORT_H

#include "core/config/config.h"
#include "core/loader/host.h"
#include "gyre/transport.h"

struct gyre_transport;

/**
 * Loads the transport of [cluster] and opens it. CONFIG when [cluster] names no app or no transport, NOT_FOUND when there is no such
 * transport; its sentence says whether this build lacks it. `log` may be NULL.
 */
gyre_status gyre_transport_open(const struct gyre_config *config, gyre_log_function *log, void *log_context,
                                uint64_t deadline_ns, struct gyre_transport **out);
/** Accepts NULL. */
void gyre_transport_close(struct gyre_transport *transport);

/** Whether a name may be that of a log, a record, an app or a member. */
bool gyre_transport_is_name(const char *name);

gyre_status gyre_transport_append(struct gyre_transport *transport, const char *log,
                                  const gyre_transport_block *block, uint64_t *number);
/** Appends a block to each of several logs, which are all different; the first entries are the first to be sent. Each entry has its status. */
void gyre_transport_append_each(struct gyre_transport *transport, gyre_transport_entry *entries,
                                size_t count);
/** Whether the transport can have blocks under way (gyre_transport_begin). Constant. */
bool gyre_transport_can_begin(const struct gyre_transport *transport);
/** append_begin, append_finish and append_drop of a transport that can; the statuses of `begin` are those of gyre_transport_append. */
gyre_status gyre_transport_begin(struct gyre_transport *transport, gyre_transport_entry *entries,
                                 size_t count, gyre_transport_ticket **ticket);
gyre_status gyre_transport_finish(struct gyre_transport *transport, gyre_transport_ticket *ticket,
                                  uint64_t deadline_ns);
void gyre_transport_drop(struct gyre_transport *transport, gyre_transport_ticket *ticket);
gyre_status gyre_transport_read(struct gyre_transport *transport, const char *log, uint64_t after,
                                void *bytes, size_t room, size_t *byte_count, uint64_t *number);
gyre_status gyre_transport_last(struct gyre_transport *transport, const char *log, uint64_t *number);
gyre_status gyre_transport_wait(struct gyre_transport *transport, const char *log, uint64_t after,
                                uint64_t deadline_ns);
gyre_status gyre_transport_purge(struct gyre_transport *transport, const char *log, uint64_t below);
gyre_status gyre_transport_record_get(struct gyre_transport *transport, const char *name, void *bytes,
                                      size_t room, size_t *byte_count, uint64_t *revision);
gyre_status gyre_transport_record_put(struct gyre_transport *transport, const char *name, const void *bytes,
                                      size_t byte_count, uint64_t expected, uint64_t *revision);
gyre_status gyre_transport_record_list(struct gyre_transport *transport, const char *prefix,
                                       int (*each)(void *context, const char *name), void *context);

#endif
