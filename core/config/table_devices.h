/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of [kernel.NAME] about devices: a part of the table in table.c, which includes it in the middle of the initialiser. Nobody
 * else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_DEVICES_H
#define GYRE_CORE_CONFIG_TABLE_DEVICES_H
/* clang-format off */
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_NAMES,
     .key = "device",
     .preset = "",
     .doc = "The number of the device of the backend that runs this kernel, or several, as in `0, 1`: then the kernel is launched on "
            "each (`gyre_spread_launch`, `gyre serve`). Empty: device 0, or the one that the program names."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "shard",
     .choices = {"producer", "key", "round_robin"},
     .preset = "producer",
     .doc = "With several of `device`: which of them a message goes to: its thread's, the one of its key (equal keys, equal device, so "
            "their order is kept), or the next one. A client that attaches counts as a thread."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_TEXT,
     .key = "key",
     .preset = "",
     .doc = "The field of the request that `shard = key` goes by: `account`, or `order.account`. Of a keyed actor: its own key."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "bells",
     .preset = "true",
     .doc = "Whether threads and programs at the kernel's queues sleep until the device wakes them, where it can, as the CPU does. With "
            "`false` they look now and then, as at a GPU's queues, so that the kernel can move to a GPU (`gyre move`)."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "stands_soon",
     .preset = "false",
     .doc = "Whether blocks on a GPU look with every second look for messages, in place of every sixteenth, whether they are to "
            "stand: for collectives above all, and for checkpoints and changes. A message that is alone then takes about a microsecond longer. Devices that "
            "are threads are told at once."},
/* clang-format on */
#endif
