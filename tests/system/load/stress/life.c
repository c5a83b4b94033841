/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and queues that come and go, alone and under load:
 * nothing is left behind, and no message is lost. */
#include "stress.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what the process holds ---- */

struct holdings {
    uint64_t threads, descriptors, shared_files, resident_kib;
};

static uint64_t entries(const char *folder)
{
    uint64_t count = 0;
    DIR *stream = opendir(folder);
    require(stream != NULL);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

/* Files of this process in the folder of shared memory where programs show their counters. */
static uint64_t shared_files(void)
{
    char folder[64], own[32];
    snprintf(folder, sizeof folder, "/dev/shm/gyre-%u", (unsigned)geteuid());
    snprintf(own, sizeof own, "%ld-", (long)getpid());
    uint64_t count = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;)
        count += !strncmp(entry->d_name, own, strlen(own));
    if (stream)
        closedir(stream);
    return count;
}

/* What was freed is no part of memory that is held, though the allocator would keep it: how much depends on which
 * threads met. */
static void give_back_what_is_freed(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

static struct holdings look(void)
{
    malloc_trim(0); /* as far as it was freed in small pieces */
    return (struct holdings){.threads = entries("/proc/self/task"),
                             .descriptors = entries("/proc/self/fd"),
                             .shared_files = shared_files(),
                             .resident_kib = resident_kib()};
}

/* Threads count until the last of them has left the system: those that nobody waits for, as a driver has them, and
 * those that were joined, too. */
static struct holdings look_when_ended(uint64_t threads)
{
    const uint64_t limit = far_off();
    struct holdings now = look();
    while (now.threads > threads && gyre_now_ns() < limit) {
        sleep_ms(1);
        now = look();
    }
    return now;
}

/* When none has ended for a while. One that takes still longer is counted, which hides no leak: that is one more in
 * every round. */
static struct holdings look_when_still(void)
{
    enum { STILL_MS = 100 };
    struct holdings now = look();
    uint64_t least = now.threads;
    for (int still = 0; still < STILL_MS; still++) {
        sleep_ms(1);
        now = look();
        if (now.threads < least) {
            least = now.threads;
            still = 0;
        }
    }
    return now;
}

static void require_flat(struct stress *stress, struct holdings before)
{
    /* A pool of the backend keeps some threads, more of them when kernels came and went at once; what is lost in every
     * round is more than that. */
    enum { GROWTH_KIB = 2048, THREADS_KEPT = 12 };
    struct holdings after = look_when_ended(before.threads + THREADS_KEPT);
    note(stress, "threads_more", (double)after.threads - (double)before.threads);
    note(stress, "descriptors_more", (double)after.descriptors - (double)before.descriptors);
    note(stress, "shared_files_more", (double)after.shared_files - (double)before.shared_files);
    note(stress, "resident_kib_more", (double)after.resident_kib - (double)before.resident_kib);
    require(after.threads <= before.threads + THREADS_KEPT);
    require(after.descriptors == before.descriptors);
    require(after.shared_files == before.shared_files);
    require(!memory_tells() || after.resident_kib <= before.resident_kib + GROWTH_KIB);
}

/* ---- one after another ---- */

static void live_once(gyre_runtime *runtime, uint64_t round)
{
    gyre_kernel *kernel = launch(runtime, "stamper", round % 3 == 0 ? 2 : 1);
    stream(gyre_kernel_queue(kernel), round, 0, 50);
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 4});
    stream(queue, round, 0, 20);
    must(gyre_kernel_deactivate(kernel, far_off()));
    must(gyre_kernel_activate(kernel, far_off()));
    if (round % 2)
        gyre_queue_close(queue);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    must(gyre_kernel_relaunch(kernel));
    stream(gyre_kernel_queue(kernel), round, 50, 100);
    gyre_kernel_release(kernel);
}

static void launch_cycles(struct stress *stress)
{
    enum { WARM_UP = 20 };
    uint64_t cycles = scaled(stress, 100, 1000);
    give_back_what_is_freed();
    for (uint64_t i = 0; i < WARM_UP; i++)
        live_once(stress->runtime, i);
    struct holdings before = look_when_still();
    for (uint64_t i = 0; i < cycles; i++)
        live_once(stress->runtime, i);
    require_flat(stress, before);
}

static void runtime_cycles(struct stress *stress)
{
    enum { WARM_UP = 5 };
    uint64_t cycles = WARM_UP + scaled(stress, 20, 300);
    struct holdings before = {0};
    give_back_what_is_freed();
    for (uint64_t i = 0; i < cycles; i++) {
        gyre_runtime *runtime = open_runtime(stress, NULL);
        live_once(runtime, i);
        gyre_close(runtime);
        if (i < WARM_UP)
            before = look_when_still();
        else /* how much memory is held depends on how many threads there are at once */
            require(look_when_ended(before.threads).threads <= before.threads);
    }
    require_flat(stress, before);
}

/* ---- under load ---- */

struct load {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t id;
    uint64_t streamed; /* atomic, as is stop */
    uint32_t stop;
};

static void *stream_until_told(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_ACQUIRE)) {
        stream(load->queue, load->id, load->streamed, load->streamed + 1000);
        __atomic_fetch_add(&load->streamed, 1000, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Returns when there is load: on a busy machine the thread may start late. */
static void begin_load(struct load *load, gyre_queue *queue)
{
    *load = (struct load){.queue = queue, .id = 7};
    start_thread(&load->thread, stream_until_told, load);
    while (__atomic_load_n(&load->streamed, __ATOMIC_ACQUIRE) == 0)
        sleep_ms(1);
}

static void end_load(struct load *load)
{
    __atomic_store_n(&load->stop, 1, __ATOMIC_RELEASE);
    pthread_join(load->thread, NULL);
    gyre_queue_stats stats = stats_of(load->queue);
    require(load->streamed > 0 && stats.sent == load->streamed && stats.received == load->streamed);
}

static void pauses_under_load(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 2);
    struct load load;
    begin_load(&load, gyre_kernel_queue(kernel));
    for (uint64_t i = scaled(stress, 1000, 100000); i > 0; i--) {
        must(gyre_kernel_deactivate(kernel, far_off()));
        require(info_of(kernel).state == GYRE_KERNEL_INACTIVE);
        must(gyre_kernel_activate(kernel, far_off()));
    }
    end_load(&load);
}

/* Some are closed with replies unread, some with requests unhandled. */
static void queues_under_load(struct stress *stress)
{
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 2);
    struct load load;
    begin_load(&load, gyre_kernel_queue(kernel));
    for (uint64_t i = scaled(stress, 500, 50000); i > 0; i--) {
        gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 16});
        stream(queue, i, 0, 40);
        for (uint64_t left = 0; left < i % 16; left++) {
            stamp request = make_stamp(i, left);
            must(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT));
        }
        gyre_queue_close(queue);
    }
    end_load(&load);
    require(info_of(kernel).queues == 1);
}

/* Other kernels are loaded, launched, stopped and freed beside one under load, and buffers come and go. */
static void neighbours_under_load(struct stress *stress)
{
    static const uint8_t bytes[4096];
    gyre_kernel *kernel = launch(stress->runtime, "stamper", 1);
    gyre_buffer *buffer = NULL;
    struct load load;
    begin_load(&load, gyre_kernel_queue(kernel));
    uint64_t rounds = scaled(stress, 30, 1000);
    note(stress, "launches", (double)rounds);
    for (uint64_t i = rounds; i > 0; i--) {
        gyre_kernel *other = NULL;
        gyre_launch_desc desc = {
            .size = sizeof desc, .source = stress_kernels(), .kernel = "stamper", .name = "neighbour"};
        must(gyre_launch(stress->runtime, &desc, &other));
        stream(gyre_kernel_queue(other), i, 0, 50);
        must(gyre_buffer_alloc(stress->runtime, NULL, 0, sizeof bytes, &buffer));
        must(gyre_buffer_upload(buffer, 0, bytes, sizeof bytes));
        must(gyre_kernel_terminate(other, GYRE_NO_WAIT, NULL));
        gyre_kernel_release(other);
        must(gyre_buffer_free(buffer));
    }
    end_load(&load);
    gyre_kernel_info info = info_of(kernel);
    require(info.absences == 0 || info.longest_absence_ns > 0);
    note(stress, "messages", (double)load.streamed);
    note(stress, "absences", (double)info.absences);
    note(stress, "longest_absence_ns", (double)info.longest_absence_ns);
}

const struct stress_mode life_modes[] = {
    {"launches", "launch, pause, terminate, relaunch, release; flat memory, threads, descriptors",
     launch_cycles},
    {"runtimes", "the same with a runtime each", runtime_cycles},
    {"pauses", "deactivate and activate under load", pauses_under_load},
    {"queues", "queues opened and closed under load", queues_under_load},
    {"neighbours", "other kernels launched, stopped and freed beside one under load", neighbours_under_load},
    {NULL, NULL, NULL},
};
