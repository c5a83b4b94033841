/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes, shared by applications (gyre.h) and backend authors (backend.h).
 *
 * Stability: codes keep their numbers within a major version; new ones are added at the end.
 */
#ifndef GYRE_STATUS_H
#define GYRE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gyre_status {
    /** Done. */
    GYRE_OK = 0,
    /** The caller passed something that can never work: fix the call; a retry cannot help. */
    GYRE_INVALID = 1,
    /** A named thing (file, kernel, backend, queue, buffer, key) does not exist. */
    GYRE_NOT_FOUND = 2,
    /** A configuration file, key or value is wrong. The sentence names file and line. */
    GYRE_CONFIG = 3,
    /** Not on this machine: no driver, no device, no compiler. The backend setting `auto` tries the next backend. */
    GYRE_UNAVAILABLE = 4,
    /** This backend does not offer the operation. */
    GYRE_UNIMPLEMENTED = 5,
    /** ABI, layout or message type do not match. The sentence names both sides. */
    GYRE_INCOMPATIBLE = 6,
    /** Memory, descriptors, disk or a device limit is exhausted. A retry can help once some is freed. */
    GYRE_EXHAUSTED = 7,
    /** The queue is full (or empty, for a receive) and the caller did not want to wait. Retry later. */
    GYRE_AGAIN = 8,
    /** The deadline passed. Requests that were accepted stay accepted. */
    GYRE_TIMEOUT = 9,
    /** The kernel, queue or runtime was closed or terminated. */
    GYRE_CLOSED = 10,
    /** The user's handler, compiler or program failed; the reason is the user's own text. */
    GYRE_FAILED = 11,
    /** The device or the process that serves it died. Other devices go on. */
    GYRE_LOST = 12,
    /** The queue was full and its policy (drop_newest) discarded this message, or the queue looks for duplicates
     * (dedup) and knew its id. The message is counted. */
    GYRE_DROPPED = 13,
    /** A defect of Gyre or of a plugin: please report it with the sentence. */
    GYRE_INTERNAL = 14,
} gyre_status;

#ifdef __cplusplus
}
#endif
#endif
