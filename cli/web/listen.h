/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the sockets that `gyre web` listens at. No state. */
#ifndef GYRE_CLI_WEB_LISTEN_H
#define GYRE_CLI_WEB_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

enum { WEB_PLACE_MAX = 80 };

/**
 * Listens at "PORT" of this machine alone, or at "ADDRESS:PORT", "[ADDRESS]:PORT"; port 0: any. Returns the socket, and writes the
 * address of the page, as a browser takes it; *open tells that other machines may come. Negative: an exit code, negated, and its
 * sentence is printed.
 */
int web_listen_address(const char *place, char page[WEB_PLACE_MAX], bool *open);
/** Listens at a path, for this user alone. What a dead server left there is replaced. Negative as above. */
int web_listen_path(const char *path);

#endif
