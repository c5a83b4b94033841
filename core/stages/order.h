/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all stages (options of a queue) in the order in which they work on a message: headers before seals, for example. */
#ifndef GYRE_CORE_STAGES_ORDER_H
#define GYRE_CORE_STAGES_ORDER_H

enum gyre_stage_number {
    GYRE_STAGE_LOG,       /* requests are kept to be handled again */
    GYRE_STAGE_TIMING,    /* messages are timed */
    GYRE_STAGE_LEVELS,    /* messages wait in front of the ring by their priority */
    GYRE_STAGE_KNOWN,     /* messages whose id was sent before are not sent again */
    GYRE_STAGE_HEADERS,   /* messages have headers */
    GYRE_STAGE_EXPIRY,    /* messages that are not handled by their deadline are taken back */
    GYRE_STAGE_SPANS,     /* large spans travel in memory of the device */
    GYRE_STAGE_SEALS,     /* messages have checksums */
    GYRE_STAGE_LETTERS,   /* requests that nobody handled are kept as letters */
    GYRE_STAGE_RECORDING, /* messages are written to a file */
    GYRE_STAGE_ATTENDANT  /* a thread does what is due at a time */
};

#endif
