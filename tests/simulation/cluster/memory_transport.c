/* SPDX-License-Identifier: Apache-2.0 */
/* See memory_transport.h. What is kept here is the machine's own, and outlives every process. */
#include "memory_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster/format.h"
#include "model.h"
#include "plain.h"

enum { NAMES_MAX = 512, PENDING_MAX = 256, WATCHED_MAX = 4096 };

struct block {
    uint64_t number, size;
    unsigned char *bytes; /* NULL: purged */
    char id[96];
};

struct log {
    char name[GYRE_TRANSPORT_NAME_MAX + 1];
    struct block *blocks;
    size_t count, room, first; /* first: the first one that is not purged */
    uint64_t damaged_until_ns;
    struct failing {
        uint64_t count, since_ns; /* appends in a row */
        const struct process *by;
    } failing[MODEL_SHARDS_MAX]; /* of a log of replies, by the shard that they are from */
};

struct record {
    char name[GYRE_TRANSPORT_NAME_MAX + 1];
    unsigned char *bytes;
    size_t size;
    uint64_t revision, damaged_until_ns;
};

/* A block that was begun to be appended, on the machine's side. */
struct begun {
    uint64_t known_ns; /* when it is known what became of it, */
    gyre_status status;
    uint64_t number; /* and what, once it has arrived */
};

/* What was sent and did not arrive yet. */
struct pending {
    uint64_t at_ns, expected;
    struct begun *begun; /* whose number it is; NULL: nobody asks */
    bool is_record;
    char name[GYRE_TRANSPORT_NAME_MAX + 1], id[96];
    unsigned char *bytes;
    size_t size;
};

struct gyre_transport_link {
    const gyre_host *host;
    uint64_t arrived_ns; /* when the last block that was begun arrives */
};

/* Outlives its process: what is under way then arrives. */
struct gyre_transport_ticket {
    struct gyre_transport_ticket *following;
    gyre_transport_entry *entries;
    size_t count;
    struct begun begun[];
};

struct transport_faults transport_faults;
bool memory_transport_tells;

static struct {
    struct log *logs[NAMES_MAX];
    struct record *records[NAMES_MAX];
    struct pending pending[PENDING_MAX];
    struct {
        const struct process *process;
        const struct link_cut *cut;
    } watched[WATCHED_MAX];
    struct gyre_transport_ticket *tickets;
    size_t log_count, record_count, pending_count, watched_count;
    uint64_t number, revision;
} store;

/* ---- what is kept ---- */

static struct log *find_log(const char *name)
{
    for (size_t i = 0; i < store.log_count; i++)
        if (strcmp(store.logs[i]->name, name) == 0)
            return store.logs[i];
    return NULL;
}

static struct log *need_log(const char *name)
{
    struct log *log = find_log(name);
    if (log)
        return log;
    if (store.log_count == NAMES_MAX)
        violation("the machine", "more than %d logs", NAMES_MAX);
    log = store.logs[store.log_count++] = plain_calloc(1, sizeof *log);
    snprintf(log->name, sizeof log->name, "%s", name);
    return log;
}

static struct record *find_record(const char *name)
{
    for (size_t i = 0; i < store.record_count; i++)
        if (strcmp(store.records[i]->name, name) == 0)
            return store.records[i];
    return NULL;
}

static struct record *need_record(const char *name)
{
    struct record *record = find_record(name);
    if (record)
        return record;
    if (store.record_count == NAMES_MAX)
        violation("the machine", "more than %d records", NAMES_MAX);
    record = store.records[store.record_count++] = plain_calloc(1, sizeof *record);
    snprintf(record->name, sizeof record->name, "%s", name);
    return record;
}

static uint64_t last_of(const struct log *log)
{
    return log && log->count ? log->blocks[log->count - 1].number : 0;
}

static const struct block *find_id(const struct log *log, const char *id)
{
    for (size_t i = log->count; transport_faults.remembers_ids && id && id[0] && i-- > 0;)
        if (strcmp(log->blocks[i].id, id) == 0)
            return &log->blocks[i];
    return NULL;
}

static unsigned char *copy_of(const void *bytes, size_t size)
{
    unsigned char *copy = plain_calloc(1, size + 1);
    memcpy(copy, bytes, size);
    return copy;
}

/* For people: who did what to which log or record; a few of its numbers. */
static void tell(const char *what, const char *name, uint64_t number, const unsigned char *bytes, size_t size)
{
    uint64_t numbers[4] = {0};
    const struct process *process = process_current();
    if (!memory_transport_tells)
        return;
    if (size > 24)
        memcpy(numbers, bytes + 24, size - 24 < sizeof numbers ? size - 24 : sizeof numbers);
    printf("%15.3f %s: %s %s %llu, %zu bytes: %llx %llx %llx %llx\n", (double)fibers_now_ns() / 1e6,
           process ? process->name : "-", what, name, (unsigned long long)number, size,
           (unsigned long long)numbers[0], (unsigned long long)numbers[1], (unsigned long long)numbers[2],
           (unsigned long long)numbers[3]);
}

static gyre_status append_now(const char *name, const void *bytes, size_t size, uint64_t expected,
                              const char *id, uint64_t *number)
{
    struct log *log = need_log(name);
    const struct block *same = find_id(log, id);
    if (same) {
        *number = same->number;
        return GYRE_OK;
    }
    if (expected != GYRE_TRANSPORT_ANY && expected != last_of(log))
        return GYRE_AGAIN;
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 16;
        log->blocks = plain_resize(log->blocks, log->room * sizeof *log->blocks);
    }
    *number = transport_faults.counts_together ? ++store.number : last_of(log) + 1;
    struct block *block = &log->blocks[log->count++];
    *block = (struct block){.number = *number, .size = size, .bytes = copy_of(bytes, size)};
    snprintf(block->id, sizeof block->id, "%s", id ? id : "");
    tell("append", name, *number, bytes, size);
    model_appended(name, *number, block->bytes, size);
    fiber_wake(log);
    return GYRE_OK;
}

static gyre_status put_now(const char *name, const void *bytes, size_t size, uint64_t expected,
                           uint64_t *revision)
{
    struct record *record = need_record(name);
    if (expected != GYRE_TRANSPORT_ANY && expected != record->revision)
        return GYRE_AGAIN;
    plain_free(record->bytes);
    record->bytes = copy_of(bytes, size);
    record->size = size;
    record->damaged_until_ns = 0;
    *revision = record->revision = ++store.revision;
    tell("put", name, *revision, bytes, size);
    model_recorded(name, record->bytes, size);
    return GYRE_OK;
}

static void purge_now(struct log *log, uint64_t below)
{
    const size_t keep = log->count - 1;
    while (log->first < keep && log->blocks[log->first].number < below) {
        plain_free(log->blocks[log->first].bytes);
        log->blocks[log->first++].bytes = NULL;
    }
}

static const struct block *block_behind(const struct log *log, uint64_t after)
{
    for (size_t i = log ? log->first : 0; log && i < log->count; i++)
        if (log->blocks[i].number > after)
            return &log->blocks[i];
    return NULL;
}

/* ---- what arrives later ---- */

/* NULL: there is no room, and it is lost. */
static struct pending *send_later(bool is_record, const char *name, const void *bytes, size_t size,
                                  uint64_t expected, const char *id)
{
    if (store.pending_count == PENDING_MAX)
        return NULL;
    struct pending *pending = &store.pending[store.pending_count++];
    *pending = (struct pending){.at_ns = fibers_now_ns() + fibers_draw(transport_faults.late_ns),
                                .expected = expected,
                                .is_record = is_record,
                                .bytes = copy_of(bytes, size),
                                .size = size};
    snprintf(pending->name, sizeof pending->name, "%s", name);
    snprintf(pending->id, sizeof pending->id, "%s", id ? id : "");
    return pending;
}

static void arrive(const struct pending *arrived)
{
    uint64_t number = 0;
    const gyre_status status =
        arrived->is_record ? put_now(arrived->name, arrived->bytes, arrived->size, arrived->expected, &number)
                           : append_now(arrived->name, arrived->bytes, arrived->size, arrived->expected,
                                        arrived->id, &number);
    if (!arrived->begun)
        return;
    arrived->begun->number = number;
    if (arrived->begun->status == GYRE_OK)
        arrived->begun->status = status;
}

/* Whatever has arrived meanwhile, in the order of its arrival. */
static void settle(void)
{
    for (;;) {
        struct pending *first = NULL;
        for (size_t i = 0; i < store.pending_count; i++)
            if (store.pending[i].at_ns <= fibers_now_ns() &&
                (!first || store.pending[i].at_ns < first->at_ns))
                first = &store.pending[i];
        if (!first)
            return;
        struct pending arrived = *first;
        *first = store.pending[--store.pending_count];
        arrive(&arrived);
        plain_free(arrived.bytes);
    }
}

/* ---- how an operation fares ---- */

enum fate {
    FINE,
    REFUSED,  /* it did not take place: UNAVAILABLE */
    NEVER,    /* it did not take place: TIMEOUT */
    LOST,     /* it took place: TIMEOUT */
    LATE,     /* it takes place later: TIMEOUT */
    REPEATED, /* it took place, and does so once more: OK */
    SLOW,     /* it took place, and is acknowledged late: OK */
    DETOUR,   /* of a block that was begun: those behind it arrive before it: OK */
    BEHIND    /* the newest block is not shown yet */
};

static uint32_t cut_of(const struct process *process)
{
    for (size_t i = 0; i < store.watched_count; i++)
        if (store.watched[i].process == process)
            return store.watched[i].cut->until_ns > fibers_now_ns() ? store.watched[i].cut->what : 0;
    return 0;
}

/* Things that are seldom written go wrong more often, so that it is seen what follows. */
static uint32_t rate_of(const char *name)
{
    const bool is_seldom = strncmp(name, "dead.", 5) == 0 || strncmp(name, "offer.", 6) == 0;
    if (transport_faults.rate_of_members && strncmp(name, "member.", 7) == 0)
        return transport_faults.rate_of_members;
    return transport_faults.rate * (is_seldom ? 6 : 1);
}

/* Whether nobody takes blocks for logs now. */
static bool is_away(const char *name)
{
    const bool is_of_replies = strncmp(name, "out.", 4) == 0;
    struct transport_faults *faults = &transport_faults;
    if (!faults->away_ns)
        return false;
    if (is_of_replies && !faults->away_until_ns) {
        faults->away_since_ns = fibers_now_ns();
        faults->away_until_ns = faults->away_since_ns + faults->away_ns;
    }
    return fibers_now_ns() < faults->away_until_ns &&
           (is_of_replies || strncmp(name, "in.", 3) == 0 || strncmp(name, "state.", 6) == 0);
}

static enum fate draw_fate(bool is_write, const char *name)
{
    static const enum fate of_writes[] = {REFUSED, NEVER, LOST, LOST, LATE, LATE, REPEATED, SLOW},
                           of_reads[] = {REFUSED, REFUSED, NEVER, BEHIND, BEHIND, SLOW};
    if (cut_of(process_current()) & (is_write ? CUT_WRITES : CUT_READS))
        return fibers_draw(4) ? REFUSED : NEVER;
    if (is_write && is_away(name))
        return fibers_draw(4) ? REFUSED : NEVER;
    if (fibers_draw(1000) >= rate_of(name))
        return FINE;
    return is_write ? of_writes[fibers_draw(sizeof of_writes / sizeof of_writes[0])]
                    : of_reads[fibers_draw(sizeof of_reads / sizeof of_reads[0])];
}

static void take_time(uint64_t most_ns)
{
    fiber_sleep(NULL, fibers_now_ns() + 1 + fibers_draw(most_ns));
}

static gyre_status unknown(const gyre_transport_link *link)
{
    fiber_sleep(NULL, fibers_now_ns() + (fibers_draw(2) ? transport_faults.reach_ns
                                                        : fibers_draw(transport_faults.latency_ns * 8)));
    return link->host->error(GYRE_TIMEOUT, "memory: nothing came back in time");
}

/* The way there. OK: it arrived, and takes place now. */
static gyre_status travel(const gyre_transport_link *link, bool is_write, const char *name, enum fate *fate)
{
    process_step(is_write);
    *fate = draw_fate(is_write, name);
    take_time(transport_faults.latency_ns);
    settle();
    if (*fate == REFUSED)
        return link->host->error(GYRE_UNAVAILABLE, "memory: it is not there now");
    return *fate == NEVER ? unknown(link) : GYRE_OK;
}

/* The way back. */
static gyre_status come_back(const gyre_transport_link *link, bool is_write, enum fate fate,
                             gyre_status status)
{
    process_step(is_write);
    take_time(fate == SLOW ? transport_faults.late_ns : transport_faults.latency_ns);
    if (fate == LOST)
        return unknown(link);
    return is_write && status == GYRE_AGAIN ? link->host->error(status, "memory: another writer was first")
                                            : status;
}

/* ---- operations ---- */

static gyre_status open_link(const gyre_transport_desc *desc, gyre_transport_link **out)
{
    *out = process_alloc(sizeof **out);
    **out = (gyre_transport_link){.host = desc->host};
    return GYRE_OK;
}

static void close_link(gyre_transport_link *link)
{
    process_free(link);
}

static gyre_status append_once(gyre_transport_link *link, const char *log, const gyre_transport_block *block,
                               uint64_t *number)
{
    enum fate fate;
    gyre_status status = travel(link, true, log, &fate);
    if (status != GYRE_OK)
        return status;
    if (fate == LATE || fate == REPEATED)
        send_later(false, log, block->bytes, block->byte_count, block->expected, block->id);
    if (fate == LATE)
        return unknown(link);
    status = append_now(log, block->bytes, block->byte_count, block->expected, block->id, number);
    return come_back(link, true, fate, status);
}

/* Where the failures of appends by the shard of a block of replies are counted; NULL: it is no such block. */
static struct failing *failing_of(const char *name, const gyre_transport_block *block)
{
    struct gyre_cluster_replies head;
    if (strncmp(name, "out.", 4) != 0 || block->byte_count < sizeof head)
        return NULL;
    memcpy(&head, block->bytes, sizeof head);
    return head.shard < MODEL_SHARDS_MAX ? &need_log(name)->failing[head.shard] : NULL;
}

static gyre_status append(gyre_transport_link *link, const char *name, const gyre_transport_block *block,
                          uint64_t *number)
{
    const uint64_t begin_ns = fibers_now_ns();
    const gyre_status status = append_once(link, name, block, number);
    struct failing *failing = failing_of(name, block);
    if (!failing)
        return status;
    const bool goes_on = failing->count && failing->by == process_current();
    *failing = (struct failing){.count = status == GYRE_OK ? 0
                                         : goes_on         ? failing->count + 1
                                                           : 1,
                                .since_ns = goes_on ? failing->since_ns : begin_ns,
                                .by = process_current()};
    return status;
}

/* ---- blocks that are begun to be appended ---- */

/* Those of a connection arrive in their order, but for what is late. */
static uint64_t arrival_of(gyre_transport_link *link, enum fate fate)
{
    if (fate == LATE || fate == DETOUR)
        return fibers_now_ns() + fibers_draw(transport_faults.late_ns);
    const uint64_t at_ns = fibers_now_ns() + 1 + fibers_draw(transport_faults.latency_ns);
    link->arrived_ns = at_ns > link->arrived_ns ? at_ns : link->arrived_ns + 1;
    return link->arrived_ns;
}

static void begin_one(gyre_transport_link *link, const gyre_transport_entry *entry, struct begun *begun)
{
    const gyre_transport_block *block = &entry->block;
    enum fate fate = draw_fate(true, entry->log);
    fate = fate == SLOW && fibers_draw(2) ? DETOUR : fate;
    const uint64_t now = fibers_now_ns();
    struct pending *pending = NULL;
    if (fate != REFUSED && fate != NEVER)
        pending = send_later(false, entry->log, block->bytes, block->byte_count, block->expected, block->id);
    if (pending) {
        pending->at_ns = arrival_of(link, fate);
        pending->begun = begun;
    }
    const bool is_known = pending && fate != LATE && fate != LOST;
    *begun = (struct begun){.status = fate == REFUSED ? GYRE_UNAVAILABLE : is_known ? GYRE_OK : GYRE_TIMEOUT};
    begun->known_ns =
        is_known ? pending->at_ns + 1 +
                       fibers_draw(fate == SLOW ? transport_faults.late_ns : transport_faults.latency_ns)
        : fate == REFUSED ? now + fibers_draw(transport_faults.latency_ns)
                          : now + transport_faults.reach_ns;
    if (fate == REPEATED && pending)
        send_later(false, entry->log, block->bytes, block->byte_count, block->expected, block->id);
}

static gyre_status append_begin(gyre_transport_link *link, gyre_transport_entry *entries, size_t count,
                                gyre_transport_ticket **out)
{
    *out = NULL;
    if (!transport_faults.begins)
        return link->host->error(GYRE_UNAVAILABLE, "memory: nothing can be under way");
    process_step(true);
    gyre_transport_ticket *ticket = plain_calloc(1, sizeof *ticket + count * sizeof ticket->begun[0]);
    ticket->following = store.tickets;
    store.tickets = ticket;
    ticket->entries = entries;
    ticket->count = count;
    for (size_t i = 0; i < count; i++)
        begin_one(link, &entries[i], &ticket->begun[i]);
    *out = ticket;
    return GYRE_OK;
}

static uint64_t known_ns(const gyre_transport_ticket *ticket)
{
    uint64_t latest = 0;
    for (size_t i = 0; i < ticket->count; i++)
        latest = ticket->begun[i].known_ns > latest ? ticket->begun[i].known_ns : latest;
    return latest;
}

static gyre_status append_finish(gyre_transport_link *link, gyre_transport_ticket *ticket,
                                 uint64_t deadline_ns)
{
    const uint64_t at_ns = known_ns(ticket), until_ns = at_ns < deadline_ns ? at_ns : deadline_ns;
    process_step(true);
    if (until_ns > fibers_now_ns())
        fiber_sleep(NULL, until_ns);
    settle();
    if (fibers_now_ns() < at_ns)
        return GYRE_AGAIN;
    for (size_t i = 0; i < ticket->count; i++) {
        gyre_transport_entry *entry = &ticket->entries[i];
        entry->status = ticket->begun[i].status;
        entry->number = entry->status == GYRE_OK ? ticket->begun[i].number : 0;
        if (entry->status != GYRE_OK)
            link->host->error(entry->status, "memory: nothing came back in time");
    }
    return GYRE_OK;
}

static void append_drop(gyre_transport_link *link, gyre_transport_ticket *ticket)
{
    (void)link;
    (void)ticket;
}

/* ---- what is read ---- */

static gyre_status read_block(gyre_transport_link *link, const char *name, uint64_t after, void *bytes,
                              size_t room, size_t *byte_count, uint64_t *number)
{
    enum fate fate;
    gyre_status status = travel(link, false, name, &fate);
    if (status != GYRE_OK)
        return status;
    const struct log *log = find_log(name);
    const struct block *block = block_behind(log, after);
    if (!block || (fate == BEHIND && block->number == last_of(log)))
        return come_back(link, false, fate, GYRE_AGAIN);
    if (block->size > room)
        return link->host->error(GYRE_INVALID, "memory: a block has more bytes than there is room for");
    memcpy(bytes, block->bytes, block->size);
    *byte_count = block->size;
    *number = block->number;
    if (log->damaged_until_ns > fibers_now_ns() && fibers_draw(2))
        ((unsigned char *)bytes)[fibers_draw(block->size)] ^= (unsigned char)(1 << fibers_draw(8));
    return come_back(link, false, fate, GYRE_OK);
}

static gyre_status last(gyre_transport_link *link, const char *log, uint64_t *number)
{
    enum fate fate;
    const gyre_status status = travel(link, false, log, &fate);
    if (status != GYRE_OK)
        return status;
    *number = last_of(find_log(log));
    return come_back(link, false, fate, GYRE_OK);
}

static gyre_status wait_for(gyre_transport_link *link, const char *name, uint64_t after, uint64_t deadline_ns)
{
    const uint64_t now = fibers_now_ns();
    process_step(false);
    if (cut_of(process_current()) & CUT_READS)
        return link->host->error(GYRE_UNAVAILABLE, "memory: it is not there now");
    const struct log *log = find_log(name);
    if (last_of(log) <= after)
        fiber_sleep(log, deadline_ns > now ? deadline_ns : now + 1);
    settle();
    return last_of(find_log(name)) > after ? GYRE_OK
                                           : link->host->error(GYRE_TIMEOUT, "memory: no block came");
}

static gyre_status purge(gyre_transport_link *link, const char *name, uint64_t below)
{
    enum fate fate;
    const gyre_status status = travel(link, true, name, &fate);
    struct log *log = find_log(name);
    if (status != GYRE_OK)
        return status;
    if (log && log->count) {
        tell("purge", name, below, NULL, 0);
        model_purged(name, below, last_of(log));
        purge_now(log, below);
    }
    return come_back(link, true, fate, GYRE_OK);
}

static gyre_status record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                              size_t *byte_count, uint64_t *revision)
{
    enum fate fate;
    const gyre_status status = travel(link, false, name, &fate);
    if (status != GYRE_OK)
        return status;
    const struct record *record = find_record(name);
    if (!record || !record->revision)
        return come_back(link, false, fate, GYRE_NOT_FOUND);
    if (record->size > room)
        return link->host->error(GYRE_INVALID, "memory: a record has more bytes than there is room for");
    memcpy(bytes, record->bytes, record->size);
    *byte_count = record->size;
    *revision = record->revision;
    if (record->damaged_until_ns > fibers_now_ns() && fibers_draw(2))
        ((unsigned char *)bytes)[fibers_draw(record->size)] ^= (unsigned char)(1 << fibers_draw(8));
    return come_back(link, false, fate, GYRE_OK);
}

static gyre_status record_put(gyre_transport_link *link, const char *name, const void *bytes,
                              size_t byte_count, uint64_t expected, uint64_t *revision)
{
    enum fate fate;
    gyre_status status = travel(link, true, name, &fate);
    if (status != GYRE_OK)
        return status;
    if (fate == LATE || fate == REPEATED)
        send_later(true, name, bytes, byte_count, expected, NULL);
    if (fate == LATE)
        return unknown(link);
    status = put_now(name, bytes, byte_count, expected, revision);
    return come_back(link, true, fate, status);
}

static gyre_status record_list(gyre_transport_link *link, const char *prefix,
                               int (*each)(void *context, const char *name), void *context)
{
    enum fate fate;
    const gyre_status status = travel(link, false, prefix, &fate);
    if (status != GYRE_OK)
        return status;
    for (size_t i = 0; i < store.record_count; i++)
        if (store.records[i]->revision && strncmp(store.records[i]->name, prefix, strlen(prefix)) == 0 &&
            !each(context, store.records[i]->name))
            break;
    return come_back(link, false, fate, GYRE_OK);
}

static const gyre_transport_ops ops = {.size = sizeof ops,
                                       .open = open_link,
                                       .close = close_link,
                                       .append = append,
                                       .read = read_block,
                                       .last = last,
                                       .wait = wait_for,
                                       .purge = purge,
                                       .record_get = record_get,
                                       .record_put = record_put,
                                       .record_list = record_list,
                                       .append_begin = append_begin,
                                       .append_finish = append_finish,
                                       .append_drop = append_drop};

const gyre_transport_plugin memory_transport = {.magic = GYRE_TRANSPORT_MAGIC,
                                                .abi_major = GYRE_TRANSPORT_MAJOR,
                                                .abi_minor = GYRE_TRANSPORT_MINOR,
                                                .size = sizeof memory_transport,
                                                .name = "memory",
                                                .build = "test",
                                                .ops = &ops};

/* ---- what the test does to it ---- */

static void forget(void)
{
    for (size_t i = 0; i < store.log_count; i++) {
        for (size_t block = 0; block < store.logs[i]->count; block++)
            plain_free(store.logs[i]->blocks[block].bytes);
        plain_free(store.logs[i]->blocks);
        plain_free(store.logs[i]);
    }
    for (size_t i = 0; i < store.record_count; i++) {
        plain_free(store.records[i]->bytes);
        plain_free(store.records[i]);
    }
    for (size_t i = 0; i < store.pending_count; i++)
        plain_free(store.pending[i].bytes);
    while (store.tickets) {
        gyre_transport_ticket *ticket = store.tickets;
        store.tickets = ticket->following;
        plain_free(ticket);
    }
}

void memory_transport_begin(void)
{
    forget();
    memset(&store, 0, sizeof store);
}

void memory_transport_watch(const struct process *process, const struct link_cut *cut)
{
    if (store.watched_count == WATCHED_MAX)
        violation("the machine", "more than %d processes", WATCHED_MAX);
    store.watched[store.watched_count].process = process;
    store.watched[store.watched_count++].cut = cut;
}

void memory_transport_damage(const char *name, uint64_t until_ns)
{
    struct log *log = find_log(name);
    struct record *record = find_record(name);
    if (log)
        log->damaged_until_ns = until_ns;
    if (record)
        record->damaged_until_ns = until_ns;
}

uint64_t memory_transport_failures(const char *name, uint32_t shard, uint64_t *since_ns)
{
    const struct failing *failing = &need_log(name)->failing[shard % MODEL_SHARDS_MAX];
    *since_ns = failing->since_ns;
    return failing->count;
}

bool memory_transport_spoil(const char *name, uint64_t byte)
{
    struct log *log = find_log(name);
    struct record *record = find_record(name);
    unsigned char *bytes = log && log->count ? log->blocks[log->count - 1].bytes
                           : record          ? record->bytes
                                             : NULL;
    const uint64_t size = log && log->count ? log->blocks[log->count - 1].size : record ? record->size : 0;
    if (!bytes || !size)
        return false;
    bytes[byte % size] ^= 0x10;
    return true;
}

void memory_transport_put_foreign(const char *log, const void *bytes, size_t size)
{
    uint64_t number;
    append_now(log, bytes, size, GYRE_TRANSPORT_ANY, NULL, &number);
}
