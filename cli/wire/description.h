/* SPDX-License-Identifier: Apache-2.0 */
/* Reads descriptions of wire forms (GYRE_WIRE) from their text, or from a source file. */
#ifndef GYRE_CLI_WIRE_DESCRIPTION_H
#define GYRE_CLI_WIRE_DESCRIPTION_H

#include "cli/wire/pack.h"

/**
 * Adds the description in GYRE_WIRE(type, text). The text has words with values, each word at most once:
 *
 *     form=object|packed|struct nullable=padded|packed|bare string=utf8|utf16 guid=dotnet|plain
 *     order=field,field,...
 *
 * A missing word has the first value. After INVALID nothing was added.
 */
gyre_status gyre_pack_add(gyre_pack *wire, const char *type, const char *text);

/**
 * Adds every GYRE_WIRE of a file and of the files that it includes in quotes and that lie beside it.
 * NOT_FOUND when `path` cannot be read, INVALID with file and line.
 */
gyre_status gyre_pack_scan(gyre_pack *wire, const char *path);

void gyre_pack_finish(gyre_pack *wire);

#endif
