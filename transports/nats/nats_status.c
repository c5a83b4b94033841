/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed call means, and names. No state. */
#include <stdio.h>

#include "nats_transport.h"

const char *nats_subject(const gyre_transport_link *link, char subject[NATS_SUBJECT_SIZE], const char *kind,
                         const char *name)
{
    snprintf(subject, NATS_SUBJECT_SIZE, "GYRE.%s.%s.%s", link->app, kind, name);
    return subject;
}

static gyre_status meaning(natsStatus status, jsErrCode error, gyre_status unknown)
{
    if (error == JSStreamWrongLastSequenceErr)
        return GYRE_AGAIN;
    if (error == JSNoMessageFoundErr || status == NATS_NOT_FOUND)
        return GYRE_NOT_FOUND;
    if (status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED)
        return GYRE_CONFIG;
    if (error)
        return error == JSInsufficientResourcesErr || error == JSStorageResourcesExceededErr ||
                       error == JSMemoryResourcesExceededErr
                   ? GYRE_EXHAUSTED
                   : GYRE_UNAVAILABLE;
    switch (status) {
    case NATS_NO_MEMORY:
        return GYRE_EXHAUSTED;
    case NATS_NO_RESPONDERS:
    case NATS_NO_SERVER:
        return GYRE_UNAVAILABLE;
    case NATS_MAX_PAYLOAD:
        return GYRE_INVALID;
    default:
        return unknown;
    }
}

gyre_status nats_failed(const gyre_transport_link *link, natsStatus status, jsErrCode error,
                        gyre_status unknown, const char *what, const char *name)
{
    natsStatus last = NATS_OK;
    const char *words = nats_GetLastError(&last);
    const gyre_status found = meaning(status, error, unknown);
    return link->host->error(found, "the NATS server at '%s': cannot %s '%s': %s%s%s", link->shown, what,
                             name, natsStatus_GetText(status),
                             last == status && words && words[0] ? ": " : "",
                             last == status && words ? words : "");
}
