/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of [backend.cpu] about turns: a part of the table in table.c, which includes it in the middle of the initialiser. Nobody
 * else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_TURNS_H
#define GYRE_CORE_CONFIG_TABLE_TURNS_H
/* clang-format off */
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "turns_file",
     .preset = "",
     .doc = "With `check = schedule, order` or `deadlock`: the file that gets which stage of a pipeline handled a message of which "
            "request, a line each, when the device is closed: kernel, block, entry, number of the request, links behind it, sender."},
/* clang-format on */
#endif
