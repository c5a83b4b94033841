/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an observation file (observed.h). No state, no locks. The file is read and not mapped: its writer may cut it meanwhile. */
#include "core/observation/observed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/observation/observation_folder.h"
#include "gyre/lack.h"

enum { COPIES_MAX = 3 }; /* of a file whose writer changes it meanwhile */

/* ---- checking ---- */

/* Ends the text within its room, and puts '?' for each byte that is no printable UTF-8 text. */
static void clean_text(char *text, size_t room)
{
    text[room - 1] = '\0';
    gyre_text_clean(text);
}

enum {
    RECORDS_MAX = 16384
}; /* also of a later version's file; readers compare records with each other, and with blocks */

/* The least stride of a part: what a reader cannot do without. */
static size_t least_stride(uint64_t kind)
{
    return kind == GYRE_OBSERVE_RECORDS  ? offsetof(gyre_observe_record, name)
           : kind == GYRE_OBSERVE_VALUES ? sizeof(uint64_t)
                                         : 2 * sizeof(uint64_t);
}

static bool ends_behind(const gyre_observe_part *part, size_t size)
{
    return part->count && part->stride &&
           (part->offset > size || part->count > (size - part->offset) / part->stride);
}

/* Adopts a part, cut to the entries that lie in the file, and to a number that a reader can work on. */
static void adopt_part(struct gyre_observed *observed, const gyre_observe_part *part)
{
    const size_t least = least_stride(part->kind);
    observed->is_cut |= ends_behind(part, observed->size);
    if (part->kind == 0 || part->kind >= GYRE_OBSERVED_PARTS || part->stride < least || part->stride % 8 ||
        part->offset % 8 || part->offset >= observed->size)
        return;
    gyre_observe_part *at = &observed->parts[part->kind];
    const uint64_t fits = (observed->size - part->offset) / part->stride;
    *at = *part;
    at->count = part->count < fits ? part->count : fits;
    if ((at->kind == GYRE_OBSERVE_RECORDS || at->kind == GYRE_OBSERVE_BLOCKS) && at->count > RECORDS_MAX)
        at->count = RECORDS_MAX;
    if (at->count > UINT32_MAX)
        at->count = UINT32_MAX;
}

gyre_status gyre_observed_parse(const char *path, unsigned char *bytes, size_t size,
                                struct gyre_observed *out)
{
    gyre_observe_head *head = &out->head;
    memset(out, 0, sizeof *out);
    out->bytes = bytes;
    out->size = size;
    const size_t least = offsetof(gyre_observe_head, process_start);
    if (size < least)
        return gyre_error_set(GYRE_INVALID,
                              "'%s': no observation file: it has %zu bytes, expected at least %zu", path,
                              size, least);
    memcpy(head, bytes, size < sizeof *head ? size : sizeof *head);
    out->is_cut = head->head_size > size;
    if (head->magic == 0 || (head->magic == GYRE_OBSERVE_MAGIC && head->version == 0))
        return gyre_error_set(GYRE_AGAIN, "'%s': the file is being made; look again", path);
    if (head->magic != GYRE_OBSERVE_MAGIC)
        return gyre_error_set(GYRE_INVALID,
                              "'%s': no observation file: it begins with %016llx, expected %016llx", path,
                              (unsigned long long)head->magic, (unsigned long long)GYRE_OBSERVE_MAGIC);
    if (head->version != GYRE_OBSERVE_VERSION)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "'%s': expected version %d of observation files, found %u: read it with the gyre "
            "that the process uses",
            path, GYRE_OBSERVE_VERSION, head->version);
    if (head->head_size < sizeof *head &&
        head->head_size >= least) /* of an earlier writer: what lies behind is not its */
        memset((unsigned char *)head + head->head_size, 0, sizeof *head - head->head_size);
    if (head->events > INT64_MAX)
        head->events = 0;
    for (uint32_t i = 0; i < head->part_count && i < GYRE_OBSERVE_PARTS_MAX; i++)
        adopt_part(out, &head->parts[i]);
    clean_text(head->program, sizeof head->program);
    clean_text(head->release, sizeof head->release);
    return GYRE_OK;
}

/* ---- the file ---- */

static enum gyre_observed_life life_of(int file, const gyre_observe_head *head)
{
    char state = 0;
    uint64_t start = 0;
    if (!gyre_observation_is_written(file))
        return GYRE_OBSERVED_DEAD;
    const bool known = head->pid <= INT32_MAX && gyre_observation_process((pid_t)head->pid, &start, &state) &&
                       start == head->process_start;
    return known && (state == 'T' || state == 't') ? GYRE_OBSERVED_STOPPED : GYRE_OBSERVED_LIVES;
}

static gyre_status cannot_read(const char *path, int error)
{
    const gyre_status status = error == ENOENT  ? GYRE_NOT_FOUND
                               : error == EFBIG ? GYRE_UNAVAILABLE
                                                : gyre_lack_status(error, GYRE_UNAVAILABLE);
    return gyre_error_set(status, "cannot read '%s': %s", path, strerror(error));
}

/* Reads the bytes from `begin` to `end` to their places in `bytes`. False with errno; with errno 0 the file ends before. */
static bool read_stretch(int file, unsigned char *bytes, size_t begin, size_t end)
{
    errno = 0;
    while (begin < end) {
        const ssize_t got = pread(file, bytes + begin, end - begin, (off_t)begin);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        begin += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/*
 * Reads what was ever written into the file: a small program uses 64 KiB of 6 MB. The rest of `bytes` stays as it was made, zero and
 * without memory. Where the file system cannot tell, everything is read. Returns the size of the file, `size` at most; -1 with errno.
 */
static ssize_t read_written(int file, unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const off_t data = lseek(file, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) /* nothing was written behind this place */
            break;
        const size_t begin = data < 0 ? at : (size_t)data;
        const off_t hole = data < 0 ? -1 : lseek(file, data, SEEK_HOLE);
        const size_t end = hole > data && (size_t)hole < size ? (size_t)hole : size;
        if (!read_stretch(file, bytes, begin, end)) {
            if (errno)
                return -1;
            break;
        }
        at = end;
    }
    const off_t now = lseek(file, 0, SEEK_END); /* its writer may have cut it meanwhile */
    return now >= 0 && (size_t)now < size ? (ssize_t)now : (ssize_t)size;
}

/* Copies an open file. NULL with errno. */
static unsigned char *copy_file(int file, size_t *size, uid_t *owner)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return NULL;
    if (!S_ISREG(about.st_mode) || about.st_size > GYRE_OBSERVED_SIZE_MAX) {
        errno = S_ISREG(about.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    unsigned char *bytes = calloc(1, (size_t)about.st_size + 1);
    const ssize_t got = bytes ? read_written(file, bytes, (size_t)about.st_size) : -1;
    if (got < 0) {
        free(bytes);
        return NULL;
    }
    *size = (size_t)got;
    *owner = about.st_uid;
    return bytes;
}

void gyre_observed_finish(struct gyre_observed *observed)
{
    free(observed->bytes);
    memset(observed, 0, sizeof *observed);
}

/* ---- entries ---- */

/* Copies entry `number` of a part, as much of it as this reader knows; the rest becomes 0. */
static bool copy_entry(const struct gyre_observed *observed, uint32_t kind, uint64_t number, void *out,
                       size_t size)
{
    const gyre_observe_part *part = &observed->parts[kind];
    memset(out, 0, size);
    if (number >= part->count)
        return false;
    memcpy(out, observed->bytes + part->offset + number * part->stride,
           size < part->stride ? size : part->stride);
    return true;
}

/* Whether record `number` was written while the file was copied, or when its writer died. */
static bool is_torn(const struct gyre_observed *observed, uint32_t number)
{
    gyre_observe_record record;
    return copy_entry(observed, GYRE_OBSERVE_RECORDS, number, &record, sizeof record) &&
           (record.generation & 1 || record.generation != record.again);
}

static bool has_torn(const struct gyre_observed *observed)
{
    for (uint32_t number = 1; number < gyre_observed_records(observed); number++)
        if (is_torn(observed, number))
            return true;
    return false;
}

void gyre_observed_compare(struct gyre_observed *observed, const unsigned char *second, size_t size)
{
    static const struct {
        uint32_t kind;
        uint64_t torn; /* a first word that no whole entry has */
    } marked[] = {{GYRE_OBSERVE_RECORDS, 1}, {GYRE_OBSERVE_EVENTS, 0}, {GYRE_OBSERVE_TRACE, 0}};
    for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
        const gyre_observe_part *part = &observed->parts[marked[i].kind];
        for (uint64_t number = 0; number < part->count && part->stride >= sizeof marked[i].torn; number++) {
            const uint64_t begin = part->offset + number * part->stride;
            unsigned char *entry = observed->bytes + begin;
            if (begin + part->stride > size || memcmp(entry, second + begin, part->stride) != 0)
                memcpy(entry, &marked[i].torn, sizeof marked[i].torn);
        }
    }
}

/*
 * A copy is whole where a second one is equal, and its marks are. The fence between them pairs with the writer's: whoever copied
 * something of a new entry finds the new marks in the second copy, in whatever order the first one was read.
 */
static void copy_again(int file, struct gyre_observed *out)
{
    size_t size = 0;
    uid_t owner = 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    unsigned char *second = copy_file(file, &size, &owner);
    gyre_observed_compare(out, second, second ? size : 0);
    free(second);
}

static gyre_status read_open(const char *path, int file, struct gyre_observed *out)
{
    size_t size = 0;
    uid_t owner = 0;
    unsigned char *bytes = copy_file(file, &size, &owner);
    const gyre_status status = bytes ? gyre_observed_parse(path, bytes, size, out) : cannot_read(path, errno);
    out->owner = owner;
    if (status == GYRE_OK)
        copy_again(file, out);
    if (status != GYRE_OK)
        gyre_observed_finish(out);
    return status;
}

gyre_status gyre_observed_read(const char *path, struct gyre_observed *out, enum gyre_observed_life *life)
{
    memset(out, 0, sizeof *out);
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return cannot_read(path, errno);
    gyre_status status = read_open(path, file, out);
    for (int copies = 1; status == GYRE_OK && copies < COPIES_MAX && has_torn(out); copies++) {
        gyre_observed_finish(out);
        status = read_open(path, file, out);
    }
    if (status == GYRE_OK && life)
        *life = life_of(file, &out->head);
    close(file);
    return status;
}

uint32_t gyre_observed_records(const struct gyre_observed *observed)
{
    return (uint32_t)observed->parts[GYRE_OBSERVE_RECORDS].count;
}

bool gyre_observed_is(const struct gyre_observed *observed, uint32_t number, uint32_t kind, uint32_t parent)
{
    const gyre_observe_part *part = &observed->parts[GYRE_OBSERVE_RECORDS];
    uint32_t about[2] = {0};
    const size_t offset = offsetof(gyre_observe_record, kind);
    if (number >= part->count || part->stride < offset + sizeof about)
        return false;
    memcpy(about, observed->bytes + part->offset + (uint64_t)number * part->stride + offset, sizeof about);
    return about[0] == kind && (!parent || about[1] == parent);
}

bool gyre_observed_record(const struct gyre_observed *observed, uint32_t number, gyre_observe_record *out)
{
    if (!number || !copy_entry(observed, GYRE_OBSERVE_RECORDS, number, out, sizeof *out) ||
        out->generation & 1 || out->generation != out->again || out->kind == GYRE_OBSERVE_FREE)
        return false;
    clean_text(out->name, sizeof out->name);
    clean_text(out->detail, sizeof out->detail);
    return true;
}

uint64_t gyre_observed_value(const struct gyre_observed *observed, uint32_t number, uint32_t word)
{
    const gyre_observe_part *part = &observed->parts[GYRE_OBSERVE_VALUES];
    uint64_t value = 0;
    if (number < part->count && word < part->stride / sizeof value)
        memcpy(&value, observed->bytes + part->offset + (uint64_t)number * part->stride + word * sizeof value,
               sizeof value);
    return value;
}

bool gyre_observed_histogram(const struct gyre_observed *observed, uint32_t record,
                             enum gyre_observe_time time, gyre_observe_histogram *out)
{
    const gyre_observe_part *part = &observed->parts[GYRE_OBSERVE_HISTOGRAMS];
    for (uint64_t number = 0; record && number < part->count; number++) {
        uint32_t about[2]; /* of whom, and what: before all of it is copied */
        memcpy(about, observed->bytes + part->offset + number * part->stride, sizeof about);
        if (about[0] == record && about[1] == time)
            return copy_entry(observed, GYRE_OBSERVE_HISTOGRAMS, number, out, sizeof *out);
    }
    return false;
}

bool gyre_observed_block(const struct gyre_observed *observed, uint32_t record, uint32_t *place,
                         gyre_observe_block *out)
{
    const gyre_observe_part *part = &observed->parts[GYRE_OBSERVE_BLOCKS];
    while (record && *place < part->count) {
        const uint32_t number = (*place)++;
        uint32_t whose; /* before all of it is copied */
        memcpy(&whose, observed->bytes + part->offset + (uint64_t)number * part->stride, sizeof whose);
        if (whose != record)
            continue;
        copy_entry(observed, GYRE_OBSERVE_BLOCKS, number, out, sizeof *out);
        if (out->share > GYRE_OBSERVE_WHOLE)
            out->share = GYRE_OBSERVE_WHOLE;
        return true;
    }
    return false;
}

uint32_t gyre_observed_troubles(const struct gyre_observed *observed)
{
    return (uint32_t)observed->parts[GYRE_OBSERVE_TROUBLES].count;
}

bool gyre_observed_trouble(const struct gyre_observed *observed, uint32_t number, gyre_observe_trouble *out)
{
    if (!copy_entry(observed, GYRE_OBSERVE_TROUBLES, number, out, sizeof *out) || !out->count)
        return false;
    clean_text(out->text, sizeof out->text);
    return true;
}

uint64_t gyre_observed_first_event(const struct gyre_observed *observed)
{
    const uint64_t kept = observed->parts[GYRE_OBSERVE_EVENTS].count, all = observed->head.events;
    if (!kept)
        return UINT64_MAX;
    return all > kept ? all - kept + 1 : 1;
}

bool gyre_observed_event(const struct gyre_observed *observed, uint64_t number, gyre_observe_event *out)
{
    const uint64_t kept = observed->parts[GYRE_OBSERVE_EVENTS].count;
    if (!number || !kept ||
        !copy_entry(observed, GYRE_OBSERVE_EVENTS, (number - 1) % kept, out, sizeof *out) ||
        out->number != number || out->again != number)
        return false;
    clean_text(out->text, sizeof out->text);
    return true;
}

uint32_t gyre_observed_spans(const struct gyre_observed *observed)
{
    return (uint32_t)observed->parts[GYRE_OBSERVE_TRACE].count;
}

bool gyre_observed_span(const struct gyre_observed *observed, uint32_t place, gyre_observe_span *out,
                        uint64_t *number)
{
    if (!copy_entry(observed, GYRE_OBSERVE_TRACE, place, out, sizeof *out) || !out->mark || out->mark & 1 ||
        out->mark != out->again)
        return false;
    *number = out->mark / 2;
    return true;
}
