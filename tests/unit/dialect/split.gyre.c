/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a line into its words: a kernel with two ports. */
#include <gyre/kernel.h>

#include "split.h"

#define SPLIT_PORTS(PORT) PORT(word, words, 8) PORT(line_error, errors, 1)
GYRE_PORTS(split_ports, SPLIT_PORTS)

/* Emits the word that begins at `at`, and returns how long it is; 0: there is no room for it. */
GYRE_HELPER u32 emit_word(gyre_context *gyre, split_ports *ports, const GYRE_GLOBAL line *from, u32 at)
{
    GYRE_GLOBAL word *out = gyre_emit(gyre, words);
    u32 length = 0;
    if (!out)
        return 0;
    while (at + length < from->length && length < 24 && from->text[at + length] != ' ') {
        out->text[length] = from->text[at + length];
        length++;
    }
    out->line = from->number;
    out->length = length;
    return length;
}

GYRE_KERNEL_TO(split, line, gyre_none, split_ports)
{
    u32 at = 0;
    if (!gyre_assert(gyre, request->length <= 120))
        return GYRE_FAILED;
    while (at < request->length) {
        if (request->text[at] == ' ') {
            at++;
            continue;
        }
        const u32 length = emit_word(gyre, ports, request, at);
        if (length == 0) {
            GYRE_GLOBAL line_error *error = gyre_emit(gyre, errors);
            error->line = request->number;
            error->at = at;
            return GYRE_NO_REPLY;
        }
        at += length;
    }
    return GYRE_NO_REPLY;
}
