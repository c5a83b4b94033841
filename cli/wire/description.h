/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the descriptions of wire forms (GYRE_WIRE) in a file. */
#ifndef GYRE_CLI_WIRE_DESCRIPTION_H
#define GYRE_CLI_WIRE_DESCRIPTION_H

#include "cli/wire/pack.h"

/**
 * Adds what GYRE_WIRE(type, text) says: words with values, each at most once,
 *
 *     form=object|packed|struct nullable=padded|packed|bare string=utf8|utf16 guid=dotnet|plain
 *     order=field,field,...
 *
 * of which the first value is that of a word left out. INVALID with a sentence, and nothing added.
 */
gyre_status gyre_pack_add(gyre_pack *wire, const char *type, const char *text);

/**
 * Adds every GYRE_WIRE of a file and of the files that it includes in quotes and that lie beside it.
 * NOT_FOUND when `path` cannot be read, INVALID with file and line.
 */
gyre_status gyre_pack_scan(gyre_pack *wire, const char *path);

void gyre_pack_finish(gyre_pack *wire);

#endif
