/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes requests and their ends to a file (recording.h). A request is still in its slot when its completion is taken, so nothing
 * is copied before. A line goes to the file before the receiver has the completion: what a program saw before it died is there.
 *
 * A recording of failures keeps the lines of the last messages in memory, and writes the whole file anew when one of them failed: beside
 * the earlier one, which it then replaces. So a full disk, or the end of the program, leaves one of them whole.
 *
 * Lock: the consumer's, under which completions are taken. What a worker process wrote is bounded here: a length is read once.
 */
#include "core/stages/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_write.h"
#include "core/base/text.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/ring_message.h"
#include "core/stages/expiry.h"
#include "core/stages/order.h"
#include "gyre/lack.h"

enum { SENTENCE_SIZE = 512 };
static const char BESIDE[] =
    ".XXXXXX"; /* behind the name of the file that replaces a recording: mkostemp's */

struct recording {
    struct gyre_recording_desc desc;
    char *path, *header;
    FILE *file;
    char **lines;  /* of failures: line number n is at n % desc.failures */
    char *place;   /* of failures: the file's path without links */
    char *beside;  /* of failures: room for the path of the file that replaces it */
    uint64_t next; /* the number of the next line */
    bool lost;     /* of failures: the latest message was not handled, and has its line */
    bool ended;    /* a line could not be written */
};

static void write_bytes(FILE *file, const unsigned char *bytes, uint32_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < length; i++) {
        putc_unlocked(digits[bytes[i] >> 4], file);
        putc_unlocked(digits[bytes[i] & 15], file);
    }
}

/* Writes a text as JSON. Bytes that JSON cannot have become a question mark. */
static void write_text(FILE *file, const char *text)
{
    for (size_t left = strlen(text); left;) {
        const size_t step = gyre_text_character((const unsigned char *)text, left);
        if (step == 0 || (unsigned char)*text < ' ')
            fputc('?', file);
        else
            fprintf(file, *text == '"' || *text == '\\' ? "\\%.*s" : "%.*s", (int)step, text);
        text += step ? step : 1;
        left -= step ? step : 1;
    }
}

static void write_failure(FILE *file, const gyre_slot *slot)
{
    gyre_failure failure;
    memcpy(&failure, slot + 1, sizeof failure);
    failure.text[sizeof failure.text - 1] = '\0';
    gyre_text_end_whole(failure.text);
    fprintf(file, ",\"failed\":{\"code\":%d,\"text\":\"", (int)failure.code);
    write_text(file, failure.text);
    fputs("\"}", file);
}

static void write_reply(FILE *file, const struct gyre_ring *ring, const gyre_slot *slot)
{
    const uint32_t length = gyre_slot_length(slot);
    const unsigned char *reply =
        length <= ring->reply_size ? gyre_reply_payload(ring->bytes, slot, length) : NULL;
    fputs(",\"reply_bytes\":\"", file);
    if (reply) /* a device that wrote a wrong place, or length, wrote no reply */
        write_bytes(file, reply, length);
    fputc('"', file);
}

static void write_line(const gyre_queue *queue, FILE *file, uint64_t index)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const gyre_slot *reply = gyre_reply_slot(ring, index);
    const uint32_t outcome = gyre_slot_info(reply);
    fputs("{\"request_bytes\":\"", file);
    write_bytes(file, gyre_request_payload(ring, gyre_request_slot(ring, index)),
                gyre_queue_request_length(queue, index));
    fputc('"', file);
    if (outcome == GYRE_OUTCOME_REPLY)
        write_reply(file, ring, reply);
    else if (outcome == GYRE_OUTCOME_FAILED)
        write_failure(file, reply);
    else if (outcome != GYRE_OUTCOME_UNHANDLED) /* nobody knows what would have come of it */
        fputs(outcome == GYRE_OUTCOME_DROPPED ? ",\"dropped\":true" : ",\"no_reply\":true", file);
    fputs("}\n", file);
}

/* Ends the recording, and tells why. */
static void end_recording(struct recording *recording, int reason)
{
    char sentence[SENTENCE_SIZE];
    recording->ended = true;
    snprintf(sentence, sizeof sentence, "the recording '%s' ends here: %s", recording->path,
             strerror(reason));
    recording->desc.failed(recording->desc.context, sentence);
}

static uint32_t outcome_of(const gyre_queue *queue, uint64_t index)
{
    return gyre_slot_info(gyre_reply_slot(gyre_ring_of(queue), index));
}

static void write_all(const gyre_queue *queue, const struct recording *recording, uint64_t first,
                      uint64_t end)
{
    for (uint64_t index = first; index != end; index++)
        if (outcome_of(queue, index) != GYRE_OUTCOME_UNHANDLED)
            write_line(queue, recording->file, index);
}

/* ---- of failures ---- */

/* Keeps the line of a message in place of the oldest one. */
static void keep_line(const gyre_queue *queue, struct recording *recording, uint64_t index)
{
    if (recording->ended)
        return;
    char **const place = &recording->lines[recording->next++ % recording->desc.failures];
    size_t size;
    free(*place);
    *place = NULL;
    FILE *line = open_memstream(place, &size);
    if (line)
        write_line(queue, line, index);
    if (!line || fclose(line) != 0)
        end_recording(recording, errno);
}

/* Whether the recording is where it was made, or nothing is there: any other file is somebody else's. */
static bool may_replace(const struct recording *recording, const struct stat *own)
{
    struct stat there;
    if (stat(recording->place, &there) != 0)
        return errno == ENOENT;
    errno = EEXIST;
    return there.st_dev == own->st_dev && there.st_ino == own->st_ino;
}

/* Makes a file beside the recording, locked as it is, with its permissions. NULL with errno. */
static FILE *open_beside(const struct recording *recording)
{
    struct stat own;
    FILE *file = NULL;
    snprintf(recording->beside, strlen(recording->place) + sizeof BESIDE, "%s%s", recording->place, BESIDE);
    if (fstat(fileno(recording->file), &own) != 0 || !may_replace(recording, &own))
        return NULL;
    const int descriptor = mkostemp(recording->beside, O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    if (fchmod(descriptor, own.st_mode & 0777) == 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        file = fdopen(descriptor, "w");
    if (!file) {
        const int reason = errno;
        close(descriptor);
        unlink(recording->beside);
        errno = reason;
    }
    return file;
}

/* Writes the file anew: the first line, and the last messages, the oldest first. */
static void write_kept(struct recording *recording)
{
    const uint64_t most = recording->desc.failures;
    FILE *file = recording->ended ? NULL : open_beside(recording);
    if (!file) {
        if (!recording->ended)
            end_recording(recording, errno);
        return;
    }
    fputs(recording->header, file);
    for (uint64_t i = recording->next > most ? recording->next - most : 0; i != recording->next; i++)
        fputs(recording->lines[i % most], file);
    if (ferror(file) || fflush(file) != 0 || rename(recording->beside, recording->place) != 0) {
        const int reason = errno;
        unlink(recording->beside);
        fclose(file);
        end_recording(recording, reason);
        return;
    }
    fclose(recording->file);
    recording->file = file;
}

/*
 * Whether a message gets a line. Of messages in turn that were not handled, the first one was with the kernel that was lost; those
 * behind it only waited, and would push it out. `lost`: whether the message before was not handled.
 */
static bool is_kept(uint32_t outcome, bool *lost)
{
    const bool kept = outcome != GYRE_OUTCOME_UNHANDLED || !*lost;
    *lost = outcome == GYRE_OUTCOME_UNHANDLED;
    return kept;
}

static void keep_all(const gyre_queue *queue, struct recording *recording, uint64_t first, uint64_t end)
{
    uint64_t failed_end = first; /* behind the last failure */
    bool lost = recording->lost;
    for (uint64_t index = first; index != end; index++) {
        const uint32_t outcome = outcome_of(queue, index);
        if (is_kept(outcome, &lost) && (outcome == GYRE_OUTCOME_FAILED || outcome == GYRE_OUTCOME_UNHANDLED))
            failed_end = index + 1;
    }
    for (uint64_t index = first; index != end; index++) {
        if (is_kept(outcome_of(queue, index), &recording->lost))
            keep_line(queue, recording, index);
        if (index + 1 == failed_end)
            write_kept(recording);
    }
}

static void recording_taken(gyre_queue *queue, uint64_t first, uint64_t end)
{
    struct recording *recording = gyre_stage_state(queue, GYRE_STAGE_RECORDING);
    struct gyre_file_hush hush;
    if (recording->ended)
        return;
    gyre_file_hush_begin(&hush);
    if (recording->lines)
        keep_all(queue, recording, first, end);
    else
        write_all(queue, recording, first, end);
    const bool written = fflush(recording->file) == 0 && !ferror(recording->file);
    const int reason = errno;
    gyre_file_hush_end(&hush);
    if (!written)
        end_recording(recording, reason);
}

static void recording_free(struct recording *recording)
{
    if (!recording)
        return;
    if (recording->file)
        fclose(recording->file);
    for (uint64_t i = 0; recording->lines && i < recording->desc.failures; i++)
        free(recording->lines[i]);
    free(recording->lines);
    free(recording->place);
    free(recording->beside);
    free(recording->header);
    free(recording->path);
    free(recording);
}

static void recording_destroy(gyre_queue *queue, void *state)
{
    (void)queue;
    recording_free(state);
}

/*
 * Whether the file may be emptied: it has nothing in it, or is an earlier recording. A wrong name in `record` would otherwise
 * cost its owner a handler, or a case that was written by hand and begins with a comment.
 */
static bool may_begin_anew(int descriptor)
{
    static const char begin[] = "{\"gyre_case\":";
    char found[sizeof begin - 1];
    const ssize_t count = pread(descriptor, found, sizeof found, 0);
    return count == 0 || (count == (ssize_t)sizeof found && memcmp(found, begin, sizeof found) == 0);
}

/* Whether the file at the path is the one that was opened: a recording of failures replaces its file, and lets go of the earlier one. */
static bool is_there(const char *path, const struct stat *opened)
{
    struct stat there;
    return stat(path, &there) == 0 && there.st_dev == opened->st_dev && there.st_ino == opened->st_ino;
}

/* Opens the file, which no other queue may record into, and empties it. */
static gyre_status open_file(const char *path, int *descriptor)
{
    struct stat info;
    *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (*descriptor < 0 || fstat(*descriptor, &info) != 0)
        return gyre_error_set(GYRE_FAILED, "record: cannot open '%s': %s%s", path, strerror(errno),
                              gyre_lack_remedy(errno));
    if (!S_ISREG(info.st_mode))
        return gyre_error_set(GYRE_INVALID, "record: '%s' is no regular file; name another one", path);
    if (flock(*descriptor, LOCK_EX | LOCK_NB) != 0 || !is_there(path, &info))
        return gyre_error_set(GYRE_INVALID,
                              "record: another queue records into '%s'; each queue needs a file of its own",
                              path);
    if (!may_begin_anew(*descriptor))
        return gyre_error_set(
            GYRE_INVALID,
            "record: '%s' is there already and is no recording: remove it, or name another file", path);
    if (ftruncate(*descriptor, 0) != 0)
        return gyre_error_set(GYRE_FAILED, "record: cannot empty '%s': %s", path, strerror(errno));
    return GYRE_OK;
}

static bool find_place(struct recording *recording)
{
    recording->place = realpath(recording->path, NULL);
    if (recording->place)
        recording->beside = malloc(strlen(recording->place) + sizeof BESIDE);
    return recording->beside != NULL;
}

/* Makes the file and writes its first line. */
static gyre_status begin_file(struct recording *recording)
{
    int descriptor = -1;
    struct gyre_file_hush hush;
    const gyre_status status = open_file(recording->path, &descriptor);
    if (status == GYRE_OK)
        recording->file = fdopen(descriptor, "w");
    if (!recording->file) {
        if (descriptor >= 0)
            close(descriptor);
        return status == GYRE_OK
                   ? gyre_error_set(GYRE_EXHAUSTED, "no memory for the recording '%s'", recording->path)
                   : status;
    }
    if (recording->lines && !find_place(recording))
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the recording '%s'", recording->path);
    gyre_file_hush_begin(&hush);
    const bool written = fputs(recording->desc.header, recording->file) >= 0 && fflush(recording->file) == 0;
    const int reason = errno;
    gyre_file_hush_end(&hush);
    return written ? GYRE_OK
                   : gyre_error_set(GYRE_FAILED, "record: cannot write '%s': %s", recording->path,
                                    strerror(reason));
}

gyre_status gyre_recording_create(gyre_queue *queue, const struct gyre_recording_desc *desc)
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_RECORDING, .taken = recording_taken, .destroy = recording_destroy};
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording) {
        recording->desc = *desc;
        recording->path = strdup(desc->path);
        recording->header = strdup(desc->header);
        recording->lines = desc->failures ? calloc(desc->failures, sizeof *recording->lines) : NULL;
    }
    if (!recording || !recording->path || !recording->header || (desc->failures && !recording->lines)) {
        recording_free(recording);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the recording '%s'", desc->path);
    }
    const gyre_status status = begin_file(recording);
    recording->desc.header = recording->desc.path = NULL; /* the caller's, not needed any more */
    if (status == GYRE_OK)
        gyre_stage_add(queue, &stage, recording);
    else
        recording_free(recording);
    return status;
}
