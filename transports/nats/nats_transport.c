/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin gyre-nats.so: its table of operations. */
#include "nats_transport.h"

#include "gyre/version.h"

static const gyre_transport_ops ops = {.size = sizeof ops,
                                       .open = nats_open,
                                       .close = nats_close,
                                       .append = nats_append,
                                       .read = nats_read,
                                       .last = nats_last,
                                       .wait = nats_wait,
                                       .purge = nats_purge,
                                       .record_get = nats_record_get,
                                       .record_put = nats_record_put,
                                       .record_list = nats_record_list,
                                       .append_each = nats_append_each,
                                       .append_begin = nats_append_begin,
                                       .append_finish = nats_append_finish,
                                       .append_drop = nats_append_drop};

const gyre_transport_plugin gyre_transport = {.magic = GYRE_TRANSPORT_MAGIC,
                                              .abi_major = GYRE_TRANSPORT_MAJOR,
                                              .abi_minor = GYRE_TRANSPORT_MINOR,
                                              .size = sizeof(gyre_transport_plugin),
                                              .name = "nats",
                                              .build = GYRE_VERSION_TEXT,
                                              .ops = &ops};
