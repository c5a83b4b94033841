/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the dead letters of a queue, one JSON line each: {"dead":{"index":3,"id":4,"code":-11,...}}. */
#ifndef GYRE_CLI_CALLS_CALL_LETTERS_H
#define GYRE_CLI_CALLS_CALL_LETTERS_H

#include <stdio.h>

#include "core/types/types.h"
#include "gyre/gyre.h"

/** Takes and prints all dead letters that are there; *printed is their number. `request` is the layout of the queue's
 * requests. */
gyre_status call_letters_print(gyre_queue *queue, const gyre_layout *request, FILE *out, size_t *printed);

#endif
