/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of Gyre under a seeded scheduler: its real queues, kernels, journals, checkpoints, replay, recovery and
 * watchdog, with all of their threads; simulated are the worker process (worker.c), the compiler (stand_in.c), and the
 * calls to the system (calls.c). Workers die at any of their steps, and the program at any of its own, or in the midst
 * of a write. The disk refuses some writes.
 *
 *     simulation_whole [FIRST_SEED [SEEDS]]
 *     simulation_whole again FIRST_SEED SEEDS      each seed twice: the second run must be the first one
 *
 * A seed is several lives of a program on the same journal, each a child of this process. Three threads use the kernel:
 * one sends, one receives, and an operator takes checkpoints, pauses, reads the state and kills workers. Checked: each request
 * is completed once and in order, every reply is that of a run in which nobody died, poison alone fails, nothing that
 * was acknowledged as durable is missing in the next life, nobody waits for ever, and orderly lives end.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gyre/gyre.h"
#include "gyre/ring_layout.h"
#include "calls.h"
#include "handler.h"
#include "schedule.h"
#include "tests/random.h"
#include "worker.h"

enum { LIVES = 6, REQUESTS_MAX = 1 << 16, SEEDS_DEFAULT = 50, SENDS_OF_A_LIFE = 300 };

/* What lives tell those after them, and the parent. */
static struct {
    uint64_t sent, received, durable;
    uint64_t deaths, steps, trace;
    uint64_t replayed, checkpoints, failed;
    whole_state states[REQUESTS_MAX]; /* behind each request that was received */
} * ledger;
static char folder[64];

static struct {
    gyre_kernel *kernel;
    gyre_queue *queue;
    uint64_t seed, to_send;
    bool sending, over, mortal;
    whole_state copy; /* of the state, which a reply has to equal */
} life;

#define require(condition)                                                                                   \
    ((condition) ? (void)0 : schedule_fail("%s:%d: required: %s", __FILE__, __LINE__, #condition))

/* ---- the three who use the kernel ---- */

static uint64_t soon(void)
{
    return schedule_now_ns() + UINT64_C(60000000000);
}

static void rest(void)
{
    usleep((useconds_t)schedule_draw(400));
}

static void send_some(void)
{
    whole_request requests[8];
    const uint64_t first = ledger->sent;
    const size_t count = 1 + schedule_draw(8);
    size_t sent = 0;
    for (size_t i = 0; i < count; i++)
        requests[i].number = whole_number(first + i);
    require(gyre_send_batch(life.queue, requests, sizeof requests[0], count, &sent, soon()) == GYRE_OK);
    ledger->sent += sent;
}

static void await_durable(void)
{
    const uint64_t sent = ledger->sent;
    if (!sent)
        return;
    require(gyre_await(life.queue, sent - 1, GYRE_DURABLE, soon()) == GYRE_OK);
    ledger->durable = sent;
    if (life.mortal && schedule_draw(30) == 0)
        schedule_die(); /* at the very moment that counts */
}

static void *run_sender(void *argument)
{
    (void)argument;
    for (const uint64_t end = ledger->sent + life.to_send; ledger->sent < end;) {
        send_some();
        if (schedule_draw(6) == 0)
            await_durable();
        if (schedule_draw(8) == 0)
            rest();
    }
    life.sending = false;
    return NULL;
}

/* Deaths by chance may fall on one request again and again: then it is failed as poison is, and leaves no trace. */
static void check_completion(const gyre_completion *completion, const whole_state *reply, uint64_t index)
{
    whole_state state = index ? ledger->states[index - 1] : (whole_state){0};
    require(completion->index == index && index < REQUESTS_MAX);
    if (completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == GYRE_FAILURE_CRASH) {
        ledger->failed += !whole_is_poison(whole_number(index));
        ledger->states[index] = state;
        return;
    }
    if (completion->outcome != GYRE_REPLIED || whole_is_poison(whole_number(index)))
        schedule_fail("request %llu%s was completed with outcome %d, code %d", (unsigned long long)index,
                      whole_is_poison(whole_number(index)) ? ", which is poison," : "",
                      (int)completion->outcome, (int)completion->failure_code);
    whole_handle_begin(&state);
    whole_handle_end(&state, whole_number(index));
    if (memcmp(reply, &state, sizeof state) != 0)
        schedule_fail("the reply to request %llu is wrong: count %llu, expected %llu",
                      (unsigned long long)index, (unsigned long long)reply->count,
                      (unsigned long long)state.count);
    ledger->states[index] = state;
    if (state.count == life.copy.count)
        require(state.hash == life.copy.hash);
}

static void receive_some(void)
{
    whole_state replies[8];
    gyre_completion completions[8];
    size_t received = 0;
    const bool patient = schedule_draw(2);
    const uint64_t until_ns = patient ? soon() : schedule_now_ns() + schedule_draw(2000000);
    gyre_status status = gyre_receive_batch(life.queue, replies, sizeof replies[0], 1 + schedule_draw(8),
                                            completions, &received, until_ns);
    require(status == GYRE_OK || status == GYRE_TIMEOUT || status == GYRE_AGAIN);
    require(status == GYRE_OK || !patient || ledger->received == ledger->sent);
    for (size_t i = 0; i < received; i++)
        check_completion(&completions[i], &replies[i], ledger->received++);
}

static void *run_receiver(void *argument)
{
    (void)argument;
    while (life.sending || ledger->received < ledger->sent) {
        receive_some();
        if (schedule_draw(8) == 0)
            rest();
    }
    return NULL;
}

/* A copy of the state is the work of whole messages, of every one that was received before among them. */
static void check_boundary(void)
{
    whole_state state;
    const uint64_t received = ledger->received;
    const uint64_t deaths = whole_worker_deaths();
    const gyre_status status = gyre_kernel_state_read(life.kernel, &state, sizeof state);
    if (status == GYRE_TIMEOUT && whole_worker_deaths() > deaths)
        return; /* one worker after the other died for as long as a read is tried */
    require(status == GYRE_OK);
    if (received)
        require(state.count >= ledger->states[received - 1].count);
    life.copy = state; /* the receiver finds whether it was ever true */
}

static void operate(void)
{
    gyre_status status = GYRE_OK;
    switch (schedule_draw(6)) {
    case 0:
        status = gyre_kernel_checkpoint(life.kernel, soon());
        break;
    case 1:
        status = gyre_kernel_deactivate(life.kernel, soon());
        rest();
        require(gyre_kernel_activate(life.kernel, soon()) == GYRE_OK);
        break;
    case 2:
        check_boundary();
        break;
    case 3:
        whole_worker_kill();
        break;
    default:
        rest();
    }
    require(status == GYRE_OK);
}

static void *run_operator(void *argument)
{
    (void)argument;
    while (!life.over) {
        usleep((useconds_t)schedule_draw(20000));
        operate();
    }
    return NULL;
}

/* ---- a life ---- */

/* WHOLE_LOG=1 shows what Gyre logs, with the step at which it does. */
static void log_line(void *context, int level, const char *text)
{
    (void)context;
    if (strstr(text, "not deterministic"))
        schedule_fail("it says of a handler that is deterministic: %s", text);
    if (getenv("WHOLE_LOG"))
        printf("%llu: %d: %s\n", (unsigned long long)schedule_steps(), level, text);
}

static void open_kernel(gyre_runtime **runtime)
{
    char journals[96], capacity[48], size[48];
    const char *settings[] = {"gyre.backend=cpu",
                              "queue.default.durability=journal",
                              "kernel.default.checkpoints=true",
                              "kernel.default.checkpoint_ms=3",
                              "backend.cpu.restart_limit=1000",
                              schedule_draw(2) ? "queue.default.idle=park" : "queue.default.idle=adaptive",
                              schedule_draw(2) ? "queue.default.fsync=group" : "queue.default.fsync=interval",
                              journals,
                              capacity,
                              size,
                              NULL};
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", folder);
    snprintf(capacity, sizeof capacity, "queue.default.capacity=%d",
             4 << life.seed % 4); /* that of its journal */
    snprintf(size, sizeof size, "queue.default.journal_size=%d", 65536 << schedule_draw(3));
    const gyre_open_desc open = {
        .size = sizeof open, .config_path = "/dev/null", .settings = settings, .log = log_line};
    const gyre_launch_desc launch = {.size = sizeof launch, .source = "whole.gyre.c", .kernel = "whole"};
    require(gyre_open(&open, runtime) == GYRE_OK);
    /* a worker that dies meanwhile, or a disk that refuses, is told and not hidden */
    gyre_status status = GYRE_LOST;
    for (int tries = 0; status != GYRE_OK && tries < 200; tries++)
        status = gyre_launch(*runtime, &launch, &life.kernel);
    require(status == GYRE_OK);
    life.queue = gyre_kernel_queue(life.kernel);
}

/* Works out the states behind requests that the life before received, and died before it could note them. */
static void note_received(uint64_t end)
{
    for (uint64_t index = ledger->received; index < end; index++) {
        whole_state state = index ? ledger->states[index - 1] : (whole_state){0};
        if (!whole_is_poison(whole_number(index))) {
            whole_handle_begin(&state);
            whole_handle_end(&state, whole_number(index));
        }
        ledger->states[index] = state;
    }
}

/* What the lives before left must be all that was durable, and nothing before what was received. */
static void take_over(void)
{
    gyre_recovered recovered = {.size = sizeof recovered};
    require(gyre_queue_recovered(life.queue, &recovered) == GYRE_OK);
    require(recovered.lost_first == recovered.lost_end);
    require(recovered.first <=
            ledger->received + 8); /* a batch that the life before could not note any more */
    require(recovered.first + recovered.offered >= ledger->durable);
    note_received(recovered.first);
    ledger->received = recovered.first;
    ledger->sent = ledger->durable = recovered.first + recovered.offered;
}

static void check_state(void)
{
    whole_state state;
    require(gyre_kernel_state_read(life.kernel, &state, sizeof state) == GYRE_OK);
    if (ledger->sent)
        require(memcmp(&state, &ledger->states[ledger->sent - 1], sizeof state) == 0);
}

static void note_figures(void)
{
    gyre_kernel_info info = {.size = sizeof info};
    require(gyre_kernel_info_get(life.kernel, &info) == GYRE_OK);
    ledger->replayed += info.replayed;
    ledger->checkpoints += info.checkpoints;
}

static void run_all(bool disturbed)
{
    pthread_t sender, receiver, operator_thread;
    life.to_send = SENDS_OF_A_LIFE;
    life.sending = true;
    require(pthread_create(&sender, NULL, run_sender, NULL) == 0);
    require(pthread_create(&receiver, NULL, run_receiver, NULL) == 0);
    if (disturbed)
        require(pthread_create(&operator_thread, NULL, run_operator, NULL) == 0);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    life.over = true;
    if (disturbed)
        pthread_join(operator_thread, NULL);
}

static void live(uint64_t seed, bool last)
{
    gyre_runtime *runtime;
    const uint64_t die_at =
        last || seed % 3 == 0 ? 0 : 1 + random_below(&(uint64_t){random_begin(seed)}, 40000);
    schedule_begin(seed, die_at);
    life.seed = seed / LIVES;
    life.mortal = die_at != 0;
    whole_worker_frailty(last ? 0 : UINT64_C(200) << schedule_draw(6));
    calls_refuse(last || schedule_draw(2) ? 0 : UINT64_C(30) << schedule_draw(4));
    open_kernel(&runtime);
    take_over();
    run_all(!last);
    check_state();
    note_figures();
    gyre_close(runtime);
    ledger->deaths += whole_worker_deaths();
    ledger->steps += schedule_steps();
    ledger->trace = schedule_trace();
}

/* ---- seeds ---- */

static void empty_folder(void)
{
    char path[512];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (open)
        closedir(open);
}

/* Returns a hash of all that happened. */
static uint64_t run_seed(uint64_t seed)
{
    uint64_t trace = 0;
    empty_folder();
    ledger->sent = ledger->received = ledger->durable = 0;
    for (uint64_t number = 0; number < LIVES; number++) {
        int status = 0;
        ledger->trace = 0;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            live(seed * LIVES + number, number == LIVES - 1);
            _exit(EXIT_SUCCESS);
        }
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) ||
            (WEXITSTATUS(status) != EXIT_SUCCESS && WEXITSTATUS(status) != SCHEDULE_DIED)) {
            printf("life %llu of seed %llu ended with %s %d; to see it again: simulation_whole %llu 1\n",
                   (unsigned long long)number, (unsigned long long)seed,
                   WIFEXITED(status) ? "status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), (unsigned long long)seed);
            empty_folder();
            rmdir(folder);
            exit(EXIT_FAILURE);
        }
        trace = (trace ^ ledger->trace ^ ledger->sent << 20 ^ ledger->received) * UINT64_C(0x100000001b3);
    }
    return trace;
}

/* Addresses take part in nothing that is decided, but where the machine places memory might. */
static void keep_addresses(char **argv)
{
    if (personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        return;
    if (personality(ADDR_NO_RANDOMIZE) != -1)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const bool again = argc > 1 && strcmp(argv[1], "again") == 0;
    const uint64_t first = argc > 1 + again ? strtoull(argv[1 + again], NULL, 0) : 0;
    const uint64_t seeds = argc > 2 + again ? strtoull(argv[2 + again], NULL, 0) : SEEDS_DEFAULT;
    keep_addresses(argv);
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(folder, sizeof folder, "/tmp/gyre-whole-XXXXXX");
    if (ledger == MAP_FAILED || !mkdtemp(folder))
        return EXIT_FAILURE;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const uint64_t trace = run_seed(seed);
        if (again && run_seed(seed) != trace) {
            printf("seed %llu went another way the second time\n", (unsigned long long)seed);
            return EXIT_FAILURE;
        }
    }
    empty_folder();
    rmdir(folder);
    printf(
        "%llu seeds, %llu steps, %llu deaths of workers, %llu requests replayed, %llu checkpoints: nothing lost, "
        "doubled or wrong\n",
        (unsigned long long)seeds, (unsigned long long)ledger->steps, (unsigned long long)ledger->deaths,
        (unsigned long long)ledger->replayed, (unsigned long long)ledger->checkpoints);
    return EXIT_SUCCESS;
}
