/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport ABI: the exports of a plugin `gyre-<name>.so` in the folder `transports`, through which members and clients of a
 * cluster (docs/cluster.md) reach each other. For authors of transports.
 *
 * A transport keeps two kinds of things under names: logs, to which everybody appends and which nobody changes, and records, small
 * values that are replaced by compare-and-set. A name has 1 to GYRE_TRANSPORT_NAME_MAX characters of a-z, A-Z, 0-9, '-', '_' and '.', and
 * neither begins nor ends with '.', nor has two of them in a row.
 *
 * A plugin exports one symbol, the constant `gyre_transport`. The core reads and judges it before it calls any code of the plugin.
 * Rules for all operations: an operation that fails returns a status and has said why through host->error, except AGAIN of `read` and
 * NOT_FOUND of `record_get`, which need no sentence. Strings and descriptors are borrowed for the call. Every struct that crosses the
 * boundary starts with its size. Deadlines are absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX is none. The words of the line
 * above each slot are those of backend.h; all operations but `close` may be called from any thread, several at once.
 *
 * What the core reads back it does not believe: it checks magic numbers, lengths and a checksum of every block and record. A transport
 * need not check contents, but must give back only what was appended or put as a whole.
 *
 * Statuses that the core acts on: AGAIN: another writer was first (`append` with an expectation, `record_put`), or nothing is there yet
 * (`read`). TIMEOUT: it is not known whether the operation took place. UNAVAILABLE: the other side is not there now; the operation did
 * not take place; a retry may help. All others are final.
 *
 * Stability: additions bump GYRE_TRANSPORT_MINOR, everything else GYRE_TRANSPORT_MAJOR.
 */
#ifndef GYRE_TRANSPORT_H
#define GYRE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"
#include "gyre/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_TRANSPORT_MAGIC 0x54525947u /* "GYRT" */
#define GYRE_TRANSPORT_MAJOR 1
#define GYRE_TRANSPORT_MINOR 2

#define GYRE_TRANSPORT_NAME_MAX   120
#define GYRE_TRANSPORT_BLOCK_MAX  (512u * 1024u) /* bytes of one block of a log */
#define GYRE_TRANSPORT_RECORD_MAX (16u * 1024u)  /* bytes of a record */
#define GYRE_TRANSPORT_ANY        UINT64_MAX     /* no expectation */

typedef struct gyre_transport_link gyre_transport_link;     /* a transport's: one connection */
typedef struct gyre_transport_ticket gyre_transport_ticket; /* a transport's: blocks that are under way */

typedef struct gyre_transport_desc {
    size_t size;
    const gyre_host *host;            /* outlives the connection */
    const char *app;                  /* everything is kept under this name; the rules of names */
    const gyre_parameter *parameters; /* the settings of [cluster] that the core does not use itself */
    size_t parameter_count;
    uint64_t deadline_ns; /* when `open` gives up */
} gyre_transport_desc;

typedef struct gyre_transport_block {
    size_t size;
    const void *bytes;
    size_t byte_count;
    uint64_t
        expected; /* the number of the log's last block (0: none was ever appended), or GYRE_TRANSPORT_ANY */
    const char *
        id; /* a text that this block alone has: a transport may drop a block whose id it saw lately; NULL: none */
} gyre_transport_block;

/** A block for a log, and what became of it. */
typedef struct gyre_transport_entry {
    const char *log;
    gyre_transport_block block;
    gyre_status status; /* as `append` returns it */
    uint64_t number;
} gyre_transport_entry;

typedef struct gyre_transport_ops {
    size_t size;

    /*
     * required   blocks: until deadline_ns   owner of *out: core, until close
     * CONFIG when a parameter is wrong or missing, UNAVAILABLE when the other side is not there.
     */
    gyre_status (*open)(const gyre_transport_desc *desc, gyre_transport_link **out);

    /* required   blocks: bounded. No other operation is under way. Accepts NULL. */
    void (*close)(gyre_transport_link *link);

    /*
     * required   blocks: bounded
     * Appends a block to a log; the first append makes the log. *number, at least 1, is larger than that of every block before. OK only
     * when the block is kept as durably as the transport is configured to. AGAIN when `expected` is not the number of the last block.
     * A block that the transport drops because of its id counts as appended; *number is then that of the earlier one, or 0.
     */
    gyre_status (*append)(gyre_transport_link *link, const char *log, const gyre_transport_block *block,
                          uint64_t *number);

    /*
     * required   blocks: bounded
     * Copies the first block with a number larger than `after`. AGAIN when there is none. INVALID when it has more than `room` bytes.
     */
    gyre_status (*read)(gyre_transport_link *link, const char *log, uint64_t after, void *bytes, size_t room,
                        size_t *byte_count, uint64_t *number);

    /*
     * required   blocks: bounded
     * The number of the last block that was ever appended; 0: none was, or there is no such log.
     */
    gyre_status (*last)(gyre_transport_link *link, const char *log, uint64_t *number);

    /*
     * required   blocks: until deadline_ns
     * Waits until the log has a block with a number larger than `after`: OK. It may also return OK when there is none. TIMEOUT. AGAIN when it
     * cannot tell in the time that there is: `read` tells.
     */
    gyre_status (*wait)(gyre_transport_link *link, const char *log, uint64_t after, uint64_t deadline_ns);

    /*
     * required   blocks: bounded
     * Blocks with numbers below `below` are not needed any more, except the last block of the log. The transport may keep some of them.
     */
    gyre_status (*purge)(gyre_transport_link *link, const char *log, uint64_t below);

    /*
     * required   blocks: bounded
     * Copies a record; *revision, at least 1, grows with each change of the record. NOT_FOUND when there is none; INVALID when it
     * has more than `room` bytes.
     */
    gyre_status (*record_get)(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                              size_t *byte_count, uint64_t *revision);

    /*
     * required   blocks: bounded
     * Replaces a record if `expected` is its revision; 0: makes it if it is not there. AGAIN otherwise. GYRE_TRANSPORT_ANY: whatever is
     * there, also when it is damaged. *revision: that of the new value, which none before had.
     */
    gyre_status (*record_put)(gyre_transport_link *link, const char *name, const void *bytes,
                              size_t byte_count, uint64_t expected, uint64_t *revision);

    /*
     * required   blocks: bounded
     * Calls `each` with the name of every record that begins with `prefix`, in any order, until it returns 0.
     */
    gyre_status (*record_list)(gyre_transport_link *link, const char *prefix,
                               int (*each)(void *context, const char *name), void *context);

    /*
     * optional since 1.1   blocks: bounded
     * Appends a block to each of several logs, which are all different, so that they are under way at once. Writes the status and the number
     * of each entry; one that fails keeps no other one out. The sentence is that of one that failed. Absent: the core calls `append` for each.
     */
    void (*append_each)(gyre_transport_link *link, gyre_transport_entry *entries, size_t count);

    /*
     * optional since 1.2, all three or none   blocks: bounded   owner of *ticket: core, until append_finish or append_drop
     * Begins what `append_each` does, and returns before it is acknowledged. `entries` and their logs stay where they are until the ticket is gone;
     * what a block points to need not. Blocks that are begun one after the other come to a log in that order, but where one is lost those behind it may be there, and where one
     * goes another way those behind it may be there before it: the numbers tell, so an entry that is OK has to have its own; the core takes one without
     * for one that went another way, and appends its block again and again. A failure: none is under way, and *ticket is NULL. Absent: the core calls `append`.
     */
    gyre_status (*append_begin)(gyre_transport_link *link, gyre_transport_entry *entries, size_t count,
                                gyre_transport_ticket **ticket);

    /*
     * blocks: until deadline_ns; 0: not at all
     * OK: each entry has its status and its number, and the ticket is gone. AGAIN: some of them are not known yet. The transport gives up an entry
     * as `append` does: its status is TIMEOUT then.
     */
    gyre_status (*append_finish)(gyre_transport_link *link, gyre_transport_ticket *ticket,
                                 uint64_t deadline_ns);

    /* blocks: bounded. The ticket is gone; nobody asks what becomes of its blocks. */
    void (*append_drop)(gyre_transport_link *link, gyre_transport_ticket *ticket);
} gyre_transport_ops;

/** The exported constant. The first five members never move, in any version. */
typedef struct gyre_transport_plugin {
    uint32_t magic; /* GYRE_TRANSPORT_MAGIC */
    uint16_t abi_major, abi_minor;
    size_t size;       /* sizeof(gyre_transport_plugin) as the plugin was compiled */
    const char *name;  /* "file" */
    const char *build; /* version and build of the plugin, for people */
    const gyre_transport_ops *ops;
} gyre_transport_plugin;

#define GYRE_TRANSPORT_SYMBOL "gyre_transport"

/** The constant that a plugin defines. */
GYRE_BACKEND_EXPORT extern const gyre_transport_plugin gyre_transport;

#ifdef __cplusplus
}
#endif
#endif
