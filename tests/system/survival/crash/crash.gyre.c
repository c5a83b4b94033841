/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that crash when they are told to. Only for the CPU backend and with check = off: they call what no
 * handler may call. A fault that is to happen once leaves a file in the folder $CRASH_FOLDER behind.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gyre/kernel.h>
#include "crash.h"

/* Whether this is the first time for this request. */
static int is_first(u64 number)
{
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    snprintf(path, sizeof path, "%s/%llu", folder ? folder : "/nowhere", (unsigned long long)number);
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* Where the processor does not mind, what it would have raised. */
static void load_misaligned(void)
{
    static char bytes[64];
#if defined __x86_64__
    __asm__ volatile("movaps (%0), %%xmm0" ::"r"(bytes + 1 + ((uintptr_t)bytes & 1)) : "xmm0");
#endif
    bytes[0] = 1;
    raise(SIGBUS);
}

static void exhaust_memory(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_AS, &none);
    for (;;) {
        volatile char *got = malloc(1 << 20);
        *got = 1;
    }
}

/* The file is the test's word. */
static void wait_for_word(void)
{
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    snprintf(path, sizeof path, "%s/go_on", folder ? folder : "/nowhere");
    while (access(path, F_OK) != 0)
        usleep(1000);
}

static void crash(u32 fault)
{
    static volatile u32 zero;
    switch (fault) {
    case CRASH_SEGFAULT:
        *(volatile u32 *)(uintptr_t)zero = 1;
        break;
    case CRASH_ABORT:
        abort();
    case CRASH_TRAP:
        __builtin_trap();
    case CRASH_LOOP:
        while (!zero)
            ;
        break;
    case CRASH_EXIT:
        _exit(3);
    case CRASH_DIVIDE:
        zero = fault / zero; /* of 1 a compiler makes a comparison, which faults not */
        break;
    case CRASH_STOP:
        kill(getpid(), SIGSTOP);
        usleep(20000); /* until that has reached this thread */
        break;
    case CRASH_SLOW:
        usleep(60000);
        break;
    case CRASH_MISALIGNED:
        load_misaligned();
        break;
    case CRASH_MEMORY:
        exhaust_memory();
        break;
    case CRASH_CUT:
        shutdown(3, SHUT_RDWR); /* the core's end of it */
        usleep(200000);
        break;
    case CRASH_WAIT:
        wait_for_word();
        break;
    default:
        break;
    }
}

GYRE_HELPER u64 mixed(u64 number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

/* Stateless: the reply is a function of the request. */
GYRE_KERNEL(fragile, crash_request, crash_reply)
{
    if (!gyre_assert(gyre, request->fault != CRASH_ASSERT))
        return GYRE_FAILED;
    if (request->fault != CRASH_NOT && (request->always || is_first(request->number)))
        crash(request->fault);
    reply->number = request->number;
    reply->check = mixed(request->number);
    return GYRE_REPLY;
}

/* Replies the same, and does nothing that a request tells it to: for requests that nobody meant. */
GYRE_KERNEL(sturdy, crash_request, crash_reply)
{
    reply->number = request->number;
    reply->check = mixed(request->number);
    return GYRE_REPLY;
}

/* Stateful: the reply is a function of all requests so far. A crash leaves half a change behind. */
GYRE_ACTOR(fragile_actor, crash_request, crash_reply, crash_state)
{
    state->count++;
    if (request->fault != CRASH_NOT && (request->always || is_first(request->number)))
        crash(request->fault);
    state->hash = mixed(state->hash + request->number);
    reply->number = state->count;
    reply->check = state->hash;
    return GYRE_REPLY;
}

/* A device buffer is the state; what a request does to it does not depend on the order. */
GYRE_BUFFERS(crash_buffers, CRASH_BUFFERS)
GYRE_KERNEL_WITH(fragile_sums, crash_request, crash_reply, gyre_none, crash_buffers)
{
    gyre_atomic_add(&buffers->sums[request->number % buffers->sums_count], mixed(request->number));
    if (request->fault != CRASH_NOT && (request->always || is_first(request->number)))
        crash(request->fault);
    reply->number = request->number;
    reply->check = mixed(request->number);
    return GYRE_REPLY;
}

/* It keeps nothing, and what it reads is written from outside. */
#define READ_BUFFERS(IN, INOUT) IN(u64, weights)
GYRE_BUFFERS(read_buffers, READ_BUFFERS)
GYRE_KERNEL_WITH(fragile_reads, crash_request, crash_reply, gyre_none, read_buffers)
{
    reply->number = request->number;
    reply->check = buffers->weights[0];
    return GYRE_REPLY;
}

/* Reads a span, which another worker has elsewhere. */
GYRE_KERNEL(fragile_spans, crash_span, crash_reply)
{
    if (request->fault && (request->always || is_first(request->number)))
        crash(request->fault);
    reply->number = request->number;
    reply->check = 0;
    for (u32 i = 0; i < request->words.count; i++)
        reply->check += gyre_get(gyre, u64, request, request->words, i);
    return GYRE_REPLY;
}

/* Replies at length. */
GYRE_KERNEL(fragile_chat, crash_request, crash_chat)
{
    if (request->fault && (request->always || is_first(request->number)))
        crash(request->fault);
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, 400);
    u64 *words = gyre_writable(u64, reply, reply->words);
    for (u32 i = 0; i < reply->words.count; i++)
        words[i] = mixed(request->number + i);
    return GYRE_REPLY;
}
