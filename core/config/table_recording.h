/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of [queue.NAME] about what a recording keeps: a part of the table in table.c, which includes it in the middle of the initialiser.
 * Nobody else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_RECORDING_H
#define GYRE_CORE_CONFIG_TABLE_RECORDING_H
/* clang-format off */
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "record_failures",
     .needs = "record",
     .min = 0,
     .max = 1000000,
     .preset = "0",
     .doc = "With `record`: the file gets nothing but the last messages up to a failure, so many. They are kept in memory, and written anew whenever a "
            "message fails, or is not handled because its kernel was lost. 0: the file gets every message."},
/* clang-format on */
#endif
