/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre subscribe: prints what a topic, or an outlet, of a server publishes. One thread, which waits in slices, so that an interrupt
 * ends it with its counts told.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json/message_json.h"
#include "cli/open.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "gyre/subscribe.h"

enum { SLICE_MS = 100, SERVER_DEFAULT_MS = 10000 };

static const char HELP[] =
    "usage: gyre subscribe PIPELINE/TOPIC [OPTION...]\n"
    "       gyre subscribe TOPIC [OPTION...]\n"
    "\n"
    "Prints what a topic, or an outlet (a link with to = host), of a server publishes, until that ends, or an interrupt:\n"
    "\n"
    "  the message      a line of JSON each, as `gyre call` prints replies\n"
    "  {\"missed\":N}     messages were missed before the next one, because this program read too slowly\n"
    "\n"
    "The last line on standard error counts them. Exit code 1 when the topic ended before --count, or this program was\n"
    "cut off.\n"
    "\n"
    "Options:\n"
    "  --count N        end after so many messages\n"
    "  --slow WORD      what happens while this program reads too slowly: drop (default): it misses messages; cut: it\n"
    "                   gets none any more; wait: the pipeline waits\n"
    "  --capacity N     messages of each block of a sender that wait for this program; a power of two\n"
    "  --timeout MS     longest wait for the server, and for a message; default: 10000 for the server, else no limit\n"
    "  --socket PATH    where the server is; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Example, in three terminals in a checkout:\n"
    "  gyre serve --config examples/pipeline/market.ini\n"
    "  gyre subscribe market/prices\n"
    "  gyre call --attach market '{\"item\":1,\"count\":2,\"cents\":500}'\n";

struct listening {
    cli_context *cli;
    const char *socket, *slow;
    uint64_t count, capacity, timeout_ms; /* 0: no limit, or the default */
    gyre_runtime *runtime;
    gyre_subscription *subscription;
    gyre_layout *layout;
    unsigned char *message;
    uint64_t printed;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void watch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int read_slow(const cli_context *cli, const char *word, gyre_slow *out)
{
    static const char *const words[] = {
        [GYRE_SLOW_WAIT] = "wait", [GYRE_SLOW_DROP] = "drop", [GYRE_SLOW_CUT] = "cut"};
    *out = GYRE_SLOW_DROP;
    for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (gyre_slow)i;
            return CLI_OK;
        }
    return word ? cli_usage_error(cli, "--slow: expected wait, drop or cut, found '%s'", word) : CLI_OK;
}

static void print_message(struct listening *listening, const gyre_publication *about)
{
    if (about->missed)
        printf("{\"missed\":%" PRIu64 "}\n", about->missed);
    if (listening->layout->shape == GYRE_SHAPE_PACKET)
        message_json_write_hex(listening->message, about->length, stdout);
    else
        message_json_write(listening->layout, listening->message, stdout);
    putchar('\n');
    listening->printed++;
}

/* Receives a message, unless there is none by the time --timeout, or an interrupt: then the status is TIMEOUT, or AGAIN. */
static gyre_status receive(const struct listening *listening, gyre_publication *about)
{
    const uint64_t timeout_ms = listening->timeout_ms,
                   deadline = timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER;
    for (;;) {
        const uint64_t slice = gyre_in_ms(SLICE_MS), until = slice < deadline ? slice : deadline;
        const gyre_status status = gyre_subscription_receive(listening->subscription, listening->message,
                                                             listening->layout->size, about, until);
        if (status != GYRE_TIMEOUT)
            return status;
        if (interrupted)
            return GYRE_AGAIN;
        if (until == deadline)
            return gyre_error_set(GYRE_TIMEOUT, "no message came within %" PRIu64 " ms (--timeout)",
                                  timeout_ms);
    }
}

static gyre_status show(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return GYRE_OK;
    return gyre_error_set(GYRE_FAILED, "cannot write the messages: %s", strerror(errno));
}

static gyre_status print_messages(struct listening *listening)
{
    gyre_status status = GYRE_OK;
    const uint64_t count = listening->count;
    while (status == GYRE_OK && !interrupted && (count == 0 || listening->printed < count)) {
        gyre_publication about = {.size = sizeof about};
        status = gyre_subscription_receive(listening->subscription, listening->message,
                                           listening->layout->size, &about, GYRE_NO_WAIT);
        if (status == GYRE_AGAIN) { /* what was printed is shown before a wait */
            status = show();
            if (status == GYRE_OK)
                status = receive(listening, &about);
        }
        if (status == GYRE_OK)
            print_message(listening, &about);
    }
    const gyre_status shown = show();
    return status == GYRE_OK || status == GYRE_AGAIN ? shown : status;
}

/* The end of a topic that was to tell more, and one that cut the subscription off, are failures. */
static int tell_end(const struct listening *listening, gyre_status status)
{
    int code = CLI_OK;
    gyre_subscription_info info = {.size = sizeof info};
    gyre_subscription_info_get(listening->subscription, &info);
    if (status == GYRE_CLOSED && listening->count == 0 && !info.is_cut)
        cli_error(CLI_OK, "%s", gyre_error_text());
    else
        code = cli_fail_unless_ok(status);
    cli_error(CLI_OK, "%s: %" PRIu64 " message%s, %" PRIu64 " missed", info.name, listening->printed,
              listening->printed == 1 ? "" : "s", info.missed);
    return code;
}

static int listen_to(struct listening *listening)
{
    gyre_subscription_info info = {.size = sizeof info};
    gyre_subscription_info_get(listening->subscription, &info);
    gyre_status status = gyre_layout_create_message(info.type, GYRE_MESSAGE_MAX, &listening->layout);
    if (status != GYRE_OK)
        return cli_fail(status);
    listening->message = malloc(listening->layout->size);
    if (!listening->message)
        return cli_error(CLI_FAILED, "out of memory");
    watch_interrupts();
    status = print_messages(listening);
    return tell_end(listening, status);
}

static int subscribe(struct listening *listening)
{
    const char *name = listening->cli->operands.items[0];
    const char *configured =
        gyre_config_text(gyre_runtime_config(listening->runtime), GYRE_SECTION_GYRE, NULL, "socket");
    gyre_subscribe_desc desc = {
        .size = sizeof desc,
        .capacity = listening->capacity,
        .path = listening->socket ? listening->socket : configured,
        .deadline_ns = gyre_in_ms(listening->timeout_ms ? listening->timeout_ms : SERVER_DEFAULT_MS)};
    const int code = read_slow(listening->cli, listening->slow, &desc.slow);
    return code == CLI_OK ? cli_fail_unless_ok(gyre_subscribe_attached(name, &desc, &listening->subscription))
                          : code;
}

static int run(cli_context *cli)
{
    struct listening listening = {.cli = cli};
    const cli_option options[] = {
        {"--count", .number = &listening.count, .min = 1, .max = UINT64_C(1) << 62},
        {"--slow", .text = &listening.slow},
        {"--capacity", .number = &listening.capacity, .min = 1, .max = UINT64_C(1) << 24},
        {"--timeout", .number = &listening.timeout_ms, .max = UINT32_MAX},
        {"--socket", .text = &listening.socket},
        {0},
    };
    if (!cli_parse(cli, options))
        return cli->exit_code;
    int code = cli->operands.count == 1 && cli->operands.items[0][0]
                   ? CLI_OK
                   : cli_usage_error(cli, "expected one topic: PIPELINE/TOPIC, or TOPIC");
    if (code == CLI_OK)
        code = cli_fail_unless_ok(cli_open(cli, &listening.runtime)); /* for its configuration alone */
    if (code == CLI_OK)
        code = subscribe(&listening);
    if (code == CLI_OK)
        code = listen_to(&listening);
    gyre_unsubscribe(listening.subscription);
    gyre_layout_destroy(listening.layout);
    free(listening.message);
    gyre_close(listening.runtime);
    return code;
}

const cli_command cli_command_subscribe = {"subscribe", "print what a topic of a server publishes", HELP,
                                           run};
