/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the types and wire descriptions that `gyre encode`, `gyre decode` and `gyre wire` work on. */
#include "cli/wire/wire_session.h"
#include "cli/wire/description.h"

#include <stdlib.h>

#include "core/base/error.h"

bool wire_session_is_message(const gyre_layout *layout)
{
    return (layout->tail || !layout->has_parts) && layout->size <= GYRE_MESSAGE_MAX;
}

static const gyre_layout *only_message(const type_list *types)
{
    const gyre_layout *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < types->count; i++)
        if (wire_session_is_message(types->layouts[i])) {
            found = types->layouts[i];
            count++;
        }
    if (count == 1)
        return found;
    gyre_error_set(
        GYRE_INVALID,
        "the file has %zu message types, expected one: choose it with --type; 'gyre messages' lists them",
        count);
    return NULL;
}

static gyre_status choose_type(wire_session *session)
{
    const type_list *types = &session->types;
    session->layout = session->type_name ? type_list_find(types, session->type_name) : only_message(types);
    if (!session->layout)
        return gyre_error_status();
    if (!wire_session_is_message(session->layout))
        return gyre_error_set(
            GYRE_INVALID, "'%s' is no message that travels alone: it %s", session->layout->name,
            session->layout->has_parts ? "has parts and no tail for them" : "is larger than 64 KiB");
    return gyre_pack_check(&session->pack, session->layout);
}

int wire_session_open(const cli_context *cli, wire_session *session)
{
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected one file that declares the type, found %zu",
                               cli->operands.count);
    int code = type_list_load(cli, cli->operands.items[0], &session->types);
    return code == CLI_OK ? cli_fail_unless_ok(gyre_pack_scan(&session->pack, cli->operands.items[0])) : code;
}

int wire_session_choose(wire_session *session)
{
    gyre_status status = choose_type(session);
    if (status != GYRE_OK)
        return cli_fail(status);
    session->message = malloc(session->layout->size + 1);
    return session->message ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

bool wire_session_begin(cli_context *cli, const cli_option *options, wire_session *session, int *code)
{
    if (!cli_parse(cli, options)) {
        *code = cli->exit_code;
        return false;
    }
    *code = wire_session_open(cli, session);
    if (*code == CLI_OK)
        *code = wire_session_choose(session);
    return *code == CLI_OK;
}

void wire_session_close(wire_session *session)
{
    free(session->message);
    gyre_pack_finish(&session->pack);
    type_list_finish(&session->types);
}
