/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one line of generated source. No state. */
#include "cli/wire/generator.h"

#include <stdarg.h>

void gyre_pack_line(generator *g, const char *format, ...)
{
    va_list args;
    fprintf(g->out, "%*s", 4 * g->indent, "");
    va_start(args, format);
    vfprintf(g->out, format, args);
    va_end(args);
    fputc('\n', g->out);
}
