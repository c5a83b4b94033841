/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the NATS transport: the last message of each subject. No state. */
#include <string.h>

#include "nats_transport.h"

gyre_status nats_record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                            size_t *byte_count, uint64_t *revision)
{
    char subject[NATS_SUBJECT_SIZE];
    natsMsg *message = NULL;
    jsErrCode error = 0;
    *byte_count = 0;
    *revision = 0;
    const natsStatus got = js_GetLastMsg(&message, link->jetstream, link->records,
                                         nats_subject(link, subject, "record", name), NULL, &error);
    if (got == NATS_NOT_FOUND || error == JSNoMessageFoundErr)
        return GYRE_NOT_FOUND;
    if (got != NATS_OK)
        return nats_failed(link, got, error, GYRE_UNAVAILABLE, "read the record", name);
    const gyre_status status = nats_copy(link, message, name, bytes, room, byte_count);
    *revision = natsMsg_GetSequence(message);
    natsMsg_Destroy(message);
    return status;
}

gyre_status nats_record_put(gyre_transport_link *link, const char *name, const void *bytes, size_t byte_count,
                            uint64_t expected, uint64_t *revision)
{
    char subject[NATS_SUBJECT_SIZE];
    jsPubOptions options;
    jsPubAck *acknowledged = NULL;
    jsErrCode error = 0;
    *revision = 0;
    if (byte_count > GYRE_TRANSPORT_RECORD_MAX)
        return link->host->error(GYRE_INVALID, "a record has at most %u bytes, found %zu",
                                 GYRE_TRANSPORT_RECORD_MAX, byte_count);
    jsPubOptions_Init(&options);
    options.MaxWait = link->reach_ms;
    options.ExpectNoMessage = expected == 0;
    options.ExpectLastSubjectSeq = expected == GYRE_TRANSPORT_ANY ? 0 : expected;
    const natsStatus status =
        js_Publish(&acknowledged, link->jetstream, nats_subject(link, subject, "record", name), bytes,
                   (int)byte_count, &options, &error);
    if (status == NATS_OK)
        *revision = acknowledged->Sequence;
    jsPubAck_Destroy(acknowledged);
    return status == NATS_OK ? GYRE_OK
                             : nats_failed(link, status, error, GYRE_TIMEOUT, "write the record", name);
}

gyre_status nats_record_list(gyre_transport_link *link, const char *prefix,
                             int (*each)(void *context, const char *name), void *context)
{
    char filter[NATS_SUBJECT_SIZE], front[NATS_SUBJECT_SIZE];
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsErrCode error = 0;
    jsOptions_Init(&options);
    options.Wait = link->reach_ms;
    options.Stream.Info.SubjectsFilter = nats_subject(link, filter, "record", ">");
    const natsStatus status = js_GetStreamInfo(&info, link->jetstream, link->records, &options, &error);
    if (status != NATS_OK)
        return nats_failed(link, status, error, GYRE_UNAVAILABLE, "list the records", prefix);
    const size_t skipped = strlen(nats_subject(link, front, "record", ""));
    const jsStreamStateSubjects *subjects = info->State.Subjects;
    for (int i = 0; subjects && i < subjects->Count; i++) {
        const char *subject = subjects->List[i].Subject;
        if (strlen(subject) > skipped && strncmp(subject + skipped, prefix, strlen(prefix)) == 0 &&
            !each(context, subject + skipped))
            break;
    }
    jsStreamInfo_Destroy(info);
    return GYRE_OK;
}
