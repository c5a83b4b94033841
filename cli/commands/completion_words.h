/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the words that may stand at the end of a command line that is being typed. The commands and their options are asked, so
 * that no list of them stands here. One thread.
 */
#ifndef GYRE_CLI_COMMANDS_COMPLETION_WORDS_H
#define GYRE_CLI_COMMANDS_COMPLETION_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

/**
 * Prints each word that may stand in place of the last of `words`, which are those behind the program's name; the last one is what
 * was typed of it, perhaps "". `split`: the shell makes three words of "a=b", as bash does, and replaces the last one alone.
 * Prints nothing where only a file may stand.
 */
void completion_words_print(const cli_context *cli, const char *const *words, size_t count, bool split);

#endif
