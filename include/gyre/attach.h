/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that several programs use. One program launches the kernels and serves. Other programs attach, each with
 * queues of its own, which are memory that both programs share: a message costs what it costs inside one program.
 *
 *     gyre_serve(runtime, NULL, &server);                            the program with the kernels
 *
 *     gyre_attach("orders", NULL, &queue);                           any other program; it needs no runtime
 *     gyre_call(queue, &order, sizeof order, &reply, sizeof reply, NULL, gyre_in_ms(100));
 *     gyre_queue_close(queue);
 *
 * A program may attach if it may write to the server's socket, by the socket's file mode. An attached queue takes
 * every call of gyre.h that takes a queue, with the same order and the same credit. When its kernel is terminated, or
 * the server ends, accepted requests are completed first, as inside one program. When the server's program dies, calls
 * return LOST. When a client dies, its queue is taken off the kernel and leaves nothing behind.
 *
 * Threads: any function from any thread. Stability: as gyre.h. Both programs need the same version of Gyre.
 */
#ifndef GYRE_ATTACH_H
#define GYRE_ATTACH_H

#include <stdbool.h>

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_server gyre_server; /* lets other programs in */

typedef struct gyre_serve_desc {
    size_t size;
    const char *path;      /* the socket's path; NULL: as configured (gyre.socket) */
    uint32_t mode;         /* the socket's file mode, up to 0777; 0: as configured (gyre.socket_access) */
    uint32_t clients_max;  /* queues attached at a time; 0: as configured (gyre.clients_max) */
    uint64_t capacity_max; /* slots that a client may ask for; 0: as configured (gyre.client_capacity_max) */
    /* Clients' messages are handled in place, in memory that the client can write meanwhile: for clients that are
     * trusted as much as this program is (docs/attach.md). 0: as configured (gyre.trusted). */
    uint32_t trusted;
} gyre_serve_desc;

/**
 * Lets other programs attach to this runtime's kernels and pipelines by name, including those that come later. `desc` may
 * be NULL. A socket that a dead server left is replaced; INVALID when a living server has it. Owner of *out: the
 * caller, until gyre_server_close, or gyre_close of the runtime.
 */
GYRE_API gyre_status gyre_serve(gyre_runtime *runtime, const gyre_serve_desc *desc, gyre_server **out);

/** Stops taking clients in, ends every attachment and removes the socket. Accepts NULL. */
GYRE_API void gyre_server_close(gyre_server *server);

typedef struct gyre_server_info {
    size_t size;
    char path[108];
    uint32_t attached;          /* queues of clients that are attached now */
    uint64_t admitted, refused; /* clients since the server began */
} gyre_server_info;

/** Tells how the server fares: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_server_info_get(gyre_server *server, gyre_server_info *info);

typedef struct gyre_attach_desc {
    size_t size;
    const char *path;  /* the server's socket; NULL: the path that a server uses when none is configured */
    uint64_t capacity; /* slots of the queue, a power of two; 0: as the server is configured */
    gyre_full_policy policy;
    gyre_idle_strategy idle; /* how the client waits */
    /* The types that the caller sends and receives; NULL: unchecked. For a kernel of several types these are the structs of
     * its protocol: GYRE_TYPE(bank_request), GYRE_TYPE(bank_reply). With NULL each type has to equal the kernel's when it
     * is sent first (gyre_send_as), so a type that grew in the kernel is refused. */
    const gyre_type *request, *reply;
    uint64_t deadline_ns; /* when gyre_attach gives up; 0: after five seconds */
    /* The client's name, up to 63 characters; NULL: none. It counts for kernels with checkpoints and queues with a
     * journal. These complete the requests of a client after that client, or its server, died: the next client of the
     * same name receives the completions (gyre_queue_recovered says which), if it attaches in time
     * (gyre.client_return_ms). At most one client of a name is attached at a time; users share no names. Of a kernel on
     * several devices (spread.h), the name chooses the device: the same one each time, while the server has as many
     * devices. Other kernels ignore the name. */
    const char *client;
    /* The queue goes on by itself when its server ends, dies, or relaunches the kernel: it waits for the next server at
     * that path, attaches again, and sends the unanswered requests again, in order. Calls wait meanwhile, and end with
     * TIMEOUT at their deadlines. They end with LOST, and the server's sentence, when the next server will never let
     * the client in (other types, no such kernel, a kernel that is lost for good, no permission). With a `client` name,
     * requests to a kernel with a journal are handled exactly once, other requests at least once; a reply of a
     * journaled kernel comes once its request is durable. gyre_attach also waits for the first server until the
     * deadline. A thread of this program carries each message. Not for queues with levels. docs/attach.md says what
     * that costs. */
    bool reconnect;
} gyre_attach_desc;

/**
 * Opens a queue of this program into a kernel of a server: "KERNEL", or "KERNEL/QUEUE" to configure the queue by the
 * server's section [queue.QUEUE]; or into a pipeline: "PIPELINE", or "PIPELINE/ENTRY", by the section [queue.PIPELINE]. Where
 * both have that name, the pipeline is meant. NOT_FOUND when there is no such kernel, section, pipeline or entry, UNAVAILABLE
 * when nobody serves at the path, INCOMPATIBLE when the types differ or the server has another version, TIMEOUT when the server
 * takes nobody in or does not answer. A server without room is asked again until the deadline: then EXHAUSTED with the server's
 * last sentence, or LOST when it only hung up. Owner of *out: the caller, until gyre_queue_close, which waits for a second at
 * most until the server has let go of the queue.
 */
GYRE_API gyre_status gyre_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out);

/** A copy of a served kernel's state, which its handler keeps between messages. */
typedef struct gyre_state_copy gyre_state_copy;

/**
 * Copies the kernel's state at a message boundary, as gyre_kernel_state_read does in the serving program. Every
 * program that may attach may read the state. `desc` may be NULL; only its path and its deadline count. Fails as
 * gyre_attach and gyre_kernel_state_read do; also INVALID for a kernel without state, EXHAUSTED when too many programs
 * read states there already. Owner of *out: the caller, until gyre_state_copy_release.
 */
GYRE_API gyre_status gyre_state_copy_get(const char *kernel, const gyre_attach_desc *desc,
                                         gyre_state_copy **out);
/**
 * Copies the state of one key of a served keyed actor, as gyre_state_copy_get does. `key` is a text: a number in decimal, an id
 * like 00112233-4455-6677-8899-aabbccddeeff, or the text itself where the key is an array of bytes. NOT_FOUND when the kernel has
 * no state for the key; INVALID when the text is no such key.
 */
GYRE_API gyre_status gyre_key_state_copy_get(const char *kernel, const char *key,
                                             const gyre_attach_desc *desc, gyre_state_copy **out);
/** The type of the state as the kernel declares it; valid until the copy is released. */
GYRE_API const gyre_type *gyre_state_copy_type(const gyre_state_copy *copy);
/** The bytes of the state, as many as the type has. */
GYRE_API const void *gyre_state_copy_bytes(const gyre_state_copy *copy);
/** Frees the copy. Accepts NULL. */
GYRE_API void gyre_state_copy_release(gyre_state_copy *copy);

/** The types of a queue's messages as its kernel declares them; valid until the queue is closed. Each may be NULL. */
GYRE_API void gyre_queue_types(const gyre_queue *queue, const gyre_type **request, const gyre_type **reply);

#ifdef __cplusplus
}
#endif
#endif
