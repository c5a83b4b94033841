/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of [backend.cpu] about turns and crashes: a part of the table in table.c, which includes it in the middle of the initialiser. Nobody
 * else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_TURNS_H
#define GYRE_CORE_CONFIG_TABLE_TURNS_H
/* clang-format off */
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "turns_file",
     .needs = "check = schedule, order or deadlock",
     .preset = "",
     .doc = "With `check = schedule, order` or `deadlock`: the file that gets which stage of a pipeline handled a message of which "
            "request, a line each, when the device is closed: kernel, block, entry, number of the request, links behind it, sender."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "crash_file",
     .needs = "check = crash",
     .preset = "",
     .doc = "With `check = crash`: the file that gets where the process ended; it ends once, when the file is empty. Without a `crash_message` it gets how many "
            "messages there were. `gyre call` sets it."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .backend = "cpu",
     .key = "crash_message",
     .needs = "check = crash",
     .min = 0,
     .max = INT64_C(1) << 62,
     .preset = "0",
     .doc = "With `check = crash`: the process that runs handlers ends at the message of this number, from 1. 0: it does not."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .backend = "cpu",
     .key = "crash_step",
     .needs = "check = crash",
     .min = 0,
     .max = INT64_C(1) << 62,
     .preset = "0",
     .doc = "With `crash_message`: before which of the message's accesses to memory it ends, from 1. 0: before the handler begins."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .backend = "cpu",
     .key = "switches",
     .needs = "check = schedule, order or deadlock",
     .min = 0,
     .max = 1000000,
     .preset = "0",
     .doc = "With `check = schedule, order` or `deadlock`: how often at most a lane of a message is left at an access, and a turn ends inside of a "
            "handler. Few switches are easier to understand, and need more seeds. 0: any number."},
/* clang-format on */
#endif
