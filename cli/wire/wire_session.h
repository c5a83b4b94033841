/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the types of a file and the descriptions of their wire forms, for `gyre encode`, `gyre decode` and `gyre wire`. */
#ifndef GYRE_CLI_WIRE_WIRE_SESSION_H
#define GYRE_CLI_WIRE_WIRE_SESSION_H

#include "cli/wire/type_list.h"
#include "cli/wire/frame.h"
#include "cli/wire/pack.h"

enum { WIRE_BYTES_MAX = GYRE_FRAME_SIZE + GYRE_FRAME_PAYLOAD_MAX };

typedef struct wire_session {
    const char *type_name; /* --type, or NULL */
    type_list types;
    gyre_pack pack;            /* every GYRE_WIRE of the file */
    const gyre_layout *layout; /* the type that wire_session_choose chose */
    unsigned char *message;    /* layout->size bytes */
    uint8_t bytes[WIRE_BYTES_MAX];
} wire_session;

/**
 * Loads the types and descriptions of the file that is the only operand. `session` begins as all zero. Returns an exit code;
 * prints why when it is not CLI_OK. Close the session also after a failure.
 */
int wire_session_open(const cli_context *cli, wire_session *session);
/** Finds the type of --type, or the only message of the file, and checks that its description fits. Returns as
 * wire_session_open. */
int wire_session_choose(wire_session *session);
/**
 * Parses the command line, opens the session and chooses the type. False when nothing is left to do, or something failed; *code
 * is then the exit code.
 */
bool wire_session_begin(cli_context *cli, const cli_option *options, wire_session *session, int *code);
void wire_session_close(wire_session *session);

/** True when a message of this type travels alone. Other types are records inside messages. */
bool wire_session_is_message(const gyre_layout *layout);

#endif
