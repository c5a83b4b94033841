/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of [kernel.NAME] about devices: a part of the table in table.c, which includes it in the middle of the initialiser. Nobody
 * else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_DEVICES_H
#define GYRE_CORE_CONFIG_TABLE_DEVICES_H
/* clang-format off */
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "shard",
     .choices = {"producer", "key", "round_robin"},
     .preset = "producer",
     .doc =
         "With several of `device`: which of them a message goes to: its thread's, the one of its key (equal keys, equal device, so "
         "their order is kept), or the next one. A client that attaches counts as a thread."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_TEXT,
     .key = "key",
     .preset = "",
     .doc =
         "The field of the request that `shard = key` goes by: `account`, or `order.account`. Of a keyed actor: its own key."},
/* clang-format on */

#endif
