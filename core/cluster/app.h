/* SPDX-License-Identifier: Apache-2.0 */
/* The record `app`: what all members and clients of a cluster agree on. The first member writes it, and it never changes. */
#ifndef GYRE_CORE_CLUSTER_APP_H
#define GYRE_CORE_CLUSTER_APP_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"
#include "gyre/message.h"

/** The hash of a type's layout, as messages (0: gyre_none or NULL). */
gyre_status gyre_cluster_type_hash(const gyre_type *type, uint64_t *hash);
/** Writes the record if it is not there; INCOMPATIBLE when it says something else. */
gyre_status gyre_cluster_app_agree(struct gyre_transport *transport, const struct gyre_cluster_app *mine);
/** Reads the record. NOT_FOUND: no member ever was there. */
gyre_status gyre_cluster_app_read(struct gyre_transport *transport, struct gyre_cluster_app *out);

#endif
