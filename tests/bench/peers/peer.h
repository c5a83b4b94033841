/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of `gyre bench --case call/48,stream/48` for programs without Gyre: a client sends 48 bytes to a server, another
 * thread of the program, which answers `word * 3 + i` for each word. peer.c measures, one file for each library has the rest.
 */
#ifndef GYRE_TESTS_PEER_H
#define GYRE_TESTS_PEER_H

#include <stdint.h>

enum { PEER_WORDS = 6, PEER_WINDOW = 1024 /* messages of a stream under way */ };

struct peer_message {
    uint64_t word[PEER_WORDS];
};

/** What the measurement needs of a library. Each function ends the program with a sentence when the library fails. */
struct peer {
    const char *name;
    void (*open)(void);                               /* starts the server's thread */
    void (*send)(const struct peer_message *message); /* one request; may wait for room */
    void (*receive)(
        struct peer_message *message); /* the next reply, in the order of the requests; waits for it */
    void (*close)(void);               /* ends the server's thread */
    uint32_t window;                   /* the most requests under way, at most PEER_WINDOW */
};

extern const struct peer peer;

/** What the server does with each message. */
static inline void peer_handle(struct peer_message *message)
{
    for (uint64_t i = 0; i < PEER_WORDS; i++)
        message->word[i] = message->word[i] * 3 + i;
}

/** Ends the program: `what` failed, for the reason in errno or in `why`, which may be NULL. */
_Noreturn void peer_fail(const char *what, const char *why);

#endif
