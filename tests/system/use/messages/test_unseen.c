/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types that nobody wrote (unseen_types.h), host -> handler -> host with random contents and with changed bytes;
 * then their wire form: encode(decode(x)) = x, decode(encode(m)) = m, the same by JSON, and a kernel that takes
 * and gives bytes, whose serializers were generated, against the host's.
 *
 * usage: test_unseen BACKEND FIRST_SEED SEEDS MESSAGES [SECTION.KEY=VALUE...]; exits with 77 when the backend
 * cannot start here. UNSEEN_KEEP=DIR in the environment keeps the files of the last seed there.
 */
#include <gyre/gyre.h>
#include <gyre/ring_layout.h>
#include <stdlib.h>
#include <string.h>

#include "../../../patience.h"
#include "cli/json/message_json.h"
#include "cli/wire/decode.h"
#include "cli/wire/description.h"
#include "cli/wire/encode.h"
#include "cli/wire/frame.h"
#include "cli/wire/generate.h"
#include "cli/wire/pack.h"
#include "core/base/error.h"
#include "core/base/temporary.h"
#include "core/types/message.h"
#include "exchange.h"
#include "unseen_types.h"

enum { SKIPPED = 77, PATH_SIZE = GYRE_TEMPORARY_MAX + 64, SETTINGS_MAX = 64, WIRE_ROUNDS = 200 };

struct trial {
    gyre_runtime *plain, *wired; /* the same but that the queues of the second take bytes */
    uint64_t seed, messages;
    struct unseen *types;
    char folder[GYRE_TEMPORARY_MAX];
    gyre_layout *layouts[UNSEEN_WIRED];
    gyre_pack pack;
};

/* ---- files ---- */

static FILE *open_file(const struct trial *trial, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", trial->folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        perror(path);
    return file;
}

static bool write_plain(const struct trial *trial)
{
    FILE *types = open_file(trial, "unseen.h"), *kernels = open_file(trial, "plain.gyre.c");
    if (!types || !kernels)
        return false;
    unseen_write_types(trial->types, types);
    fputs("#include <gyre/kernel.h>\n#include \"unseen.h\"\n", kernels);
    unseen_write_kernels(trial->types, UNSEEN_MESSAGES, kernels);
    return (fclose(types) | fclose(kernels)) == 0;
}

static bool write_wired(const struct trial *trial)
{
    FILE *wire = open_file(trial, "unseen_wire.h"), *kernels = open_file(trial, "wired.gyre.c");
    if (!wire || !kernels)
        return false;
    fputs("#include <gyre/wire.h>\n", wire);
    if (gyre_pack_generate(&trial->pack, (const gyre_layout *const *)trial->layouts, UNSEEN_WIRED, wire) !=
        GYRE_OK)
        return exchange_tell("generate");
    fputs("#include <gyre/kernel.h>\n#include \"unseen.h\"\n#include \"unseen_wire.h\"\n", kernels);
    unseen_write_kernels(trial->types, UNSEEN_WIRED, kernels);
    return (fclose(wire) | fclose(kernels)) == 0;
}

/* ---- messages ---- */

static gyre_kernel *launch(gyre_runtime *runtime, const struct trial *trial, const char *file,
                           unsigned number)
{
    char source[PATH_SIZE], name[32];
    gyre_kernel *kernel = NULL;
    snprintf(source, sizeof source, "%s/%s", trial->folder, file);
    snprintf(name, sizeof name, "unseen_%u", number);
    const gyre_launch_desc desc = {.size = sizeof desc, .source = source, .kernel = name};
    if (gyre_launch(runtime, &desc, &kernel) != GYRE_OK)
        exchange_tell(name);
    return kernel;
}

static bool try_message(struct trial *trial, unsigned number)
{
    char name[64];
    gyre_kernel *kernel = launch(trial->plain, trial, "plain.gyre.c", number);
    gyre_kernel_info info = {.size = sizeof info};
    if (!kernel || gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return false;
    struct exchange run = {.count = trial->messages, .quiet = true};
    snprintf(name, sizeof name, "message %u", number);
    bool right = exchange_begin(&run, name, info.request, gyre_kernel_queue(kernel)) && exchange_run(&run);
    if (right && number < UNSEEN_WIRED)
        right =
            gyre_layout_create_message(info.request, GYRE_MESSAGE_MAX, &trial->layouts[number]) == GYRE_OK;
    exchange_end(&run);
    gyre_kernel_release(kernel);
    return right;
}

/* ---- wire form ---- */

/* A message in every form, in rooms of its own. */
struct forms {
    const struct trial *trial;
    const gyre_layout *layout;
    uint64_t random;
    void *message, *other;
    uint8_t *bytes, *again;
    size_t length;
};

static bool begin_forms(struct forms *forms, const struct trial *trial, const gyre_layout *layout)
{
    *forms = (struct forms){.trial = trial, .layout = layout, .random = trial->seed + 1};
    forms->message = malloc(layout->size);
    forms->other = malloc(layout->size);
    forms->bytes = malloc(GYRE_FRAME_PAYLOAD_MAX);
    forms->again = malloc(GYRE_FRAME_PAYLOAD_MAX);
    return forms->message && forms->other && forms->bytes && forms->again;
}

static void end_forms(struct forms *forms)
{
    free(forms->message);
    free(forms->other);
    free(forms->bytes);
    free(forms->again);
}

static bool make(struct forms *forms)
{
    random_message(forms->layout, &forms->random, forms->message);
    return gyre_pack_encode(&forms->trial->pack, forms->layout, forms->message, forms->bytes,
                            GYRE_FRAME_PAYLOAD_MAX, &forms->length) == GYRE_OK ||
           exchange_tell("encode");
}

static gyre_status decode(const struct forms *forms, const uint8_t *bytes, size_t length)
{
    return gyre_pack_decode(&forms->trial->pack, forms->layout, bytes, length, forms->other);
}

/* After a decode that was refused: rightly, as the order of the wire leaves other gaps. */
static bool may_not_fit(const struct forms *forms)
{
    return unseen_is_reordered(forms->trial->types) &&
           strstr(gyre_error_text(), "does not fit the message's tail");
}

static char *json_of(const struct forms *forms, const void *message)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        abort();
    message_json_write(forms->layout, message, out);
    fclose(out);
    return text;
}

static bool is_equal(const struct forms *forms, const char *text, const char *what)
{
    char *other = json_of(forms, forms->other);
    const bool equal = strcmp(text, other) == 0;
    if (!equal)
        fprintf(stderr, "%s: %s\nhas become %s\n", what, text, other);
    free(other);
    return equal;
}

/* To the wire and back, and to JSON and back. NaN's payload is not kept in JSON; all else is bytes. */
static bool round_trip(struct forms *forms)
{
    size_t length = 0;
    if (!make(forms))
        return false;
    if (decode(forms, forms->bytes, forms->length) != GYRE_OK)
        return may_not_fit(forms) || exchange_tell("decode");
    char *text = json_of(forms, forms->message);
    bool right = is_equal(forms, text, "wire form") &&
                 gyre_pack_encode(&forms->trial->pack, forms->layout, forms->other, forms->again,
                                  GYRE_FRAME_PAYLOAD_MAX, &length) == GYRE_OK &&
                 length == forms->length && memcmp(forms->again, forms->bytes, length) == 0;
    if (right && message_json_read(forms->layout, text, strlen(text), forms->other) != GYRE_OK)
        right = exchange_tell("JSON");
    right = right && is_equal(forms, text, "JSON");
    if (right && !strstr(text, "\"NaN\""))
        right = gyre_layout_length(forms->layout, forms->other) ==
                    gyre_layout_length(forms->layout, forms->message) &&
                memcmp(forms->message, forms->other, gyre_layout_length(forms->layout, forms->other)) == 0;
    free(text);
    return right;
}

static void damage(struct forms *forms)
{
    if (random_next(&forms->random) >> 62 == 0)
        forms->length = forms->length ? (random_next(&forms->random) >> 16) % forms->length : 0;
    for (uint64_t i = random_next(&forms->random) >> 62; forms->length && i > 0; i--) {
        const uint64_t roll = random_next(&forms->random);
        forms->bytes[(roll >> 16) % forms->length] = (uint8_t)(roll & 1 ? roll >> 8 : roll & 2 ? 255 : 0);
    }
}

/* What the device made of bytes has to be what the host makes of them; bytes that are whole are not refused. */
static bool is_same(const struct forms *forms, const gyre_completion *completion, const uint8_t *reply,
                    bool is_whole)
{
    size_t length = 0;
    char place[40];
    if (decode(forms, forms->bytes, forms->length) != GYRE_OK) {
        if (is_whole && !may_not_fit(forms))
            return false;
        snprintf(place, sizeof place, "byte %d of %zu", completion->failure_code, forms->length);
        return completion->outcome == GYRE_HANDLER_FAILED &&
               (strcmp(completion->failure_text, "the input ends within it") == 0 ||
                (strstr(gyre_error_text(), place) && strstr(gyre_error_text(), completion->failure_text)));
    }
    if (gyre_pack_encode(&forms->trial->pack, forms->layout, forms->other, forms->again,
                         GYRE_FRAME_PAYLOAD_MAX, &length) != GYRE_OK)
        return exchange_tell("encode");
    return (completion->outcome == GYRE_REPLIED && completion->length == length &&
            memcmp(reply, forms->again, length) == 0) ||
           completion->failure_code == GYRE_FAILURE_TAIL; /* built in another order, with other gaps */
}

/* One message, whole or damaged, through the kernel. */
static bool try_bytes(struct forms *forms, gyre_queue *queue, bool is_whole, uint8_t *reply)
{
    gyre_completion completion = {.outcome = GYRE_WAS_DROPPED};
    if (!make(forms))
        return false;
    if (!is_whole)
        damage(forms);
    if (gyre_call(queue, forms->bytes, forms->length, reply, GYRE_FRAME_PAYLOAD_MAX, &completion,
                  gyre_in_ms(patiently(PATIENCE_MS))) != GYRE_OK) /* there is no packet of no bytes */
        return (forms->length == 0 && gyre_error_status() == GYRE_INVALID) || exchange_tell("call");
    if (is_same(forms, &completion, reply, is_whole))
        return true;
    fprintf(stderr, "%zu bytes: outcome %d, failure %d '%s', %u bytes; the host: %s\n", forms->length,
            completion.outcome, completion.failure_code, completion.failure_text, completion.length,
            gyre_error_text());
    return false;
}

static bool try_device(struct forms *forms, gyre_queue *queue)
{
    uint8_t *reply = malloc(GYRE_FRAME_PAYLOAD_MAX);
    bool right = reply != NULL;
    for (uint64_t i = 0; right && i < forms->trial->messages; i++)
        right = try_bytes(forms, queue, i % 2 == 0, reply);
    free(reply);
    return right;
}

static bool try_wire(struct trial *trial, unsigned number)
{
    struct forms forms;
    bool right = begin_forms(&forms, trial, trial->layouts[number]);
    for (int i = 0; right && i < WIRE_ROUNDS; i++)
        right = round_trip(&forms);
    gyre_kernel *kernel = right ? launch(trial->wired, trial, "wired.gyre.c", number) : NULL;
    right = kernel && try_device(&forms, gyre_kernel_queue(kernel));
    gyre_kernel_release(kernel);
    end_forms(&forms);
    return right;
}

/* ---- seeds ---- */

static bool try_types(struct trial *trial)
{
    char header[PATH_SIZE];
    bool right = write_plain(trial);
    for (unsigned i = 0; right && i < UNSEEN_MESSAGES; i++)
        right = try_message(trial, i);
    snprintf(header, sizeof header, "%s/unseen.h", trial->folder);
    if (right && gyre_pack_scan(&trial->pack, header) != GYRE_OK)
        right = exchange_tell("scan");
    for (unsigned i = 0; right && i < UNSEEN_WIRED; i++)
        right = gyre_pack_check(&trial->pack, trial->layouts[i]) == GYRE_OK || exchange_tell("check");
    right = right && write_wired(trial);
    for (unsigned i = 0; right && i < UNSEEN_WIRED; i++)
        right = try_wire(trial, i);
    return right;
}

static bool try_seed(const struct trial *all, uint64_t seed)
{
    struct trial trial = *all;
    struct gyre_temporary folder = {.path = ""};
    const char *keep = getenv("UNSEEN_KEEP");
    trial.seed = seed;
    trial.types = unseen_create(seed);
    if (!keep && gyre_temporary_make(&folder, "/tmp") != GYRE_OK)
        return exchange_tell("temporary folder");
    snprintf(trial.folder, sizeof trial.folder, "%s", keep ? keep : folder.path);
    const bool right = trial.types && try_types(&trial);
    if (!right)
        fprintf(stderr, "seed %llu is wrong\n", (unsigned long long)seed);
    for (unsigned i = 0; i < UNSEEN_WIRED; i++)
        gyre_layout_destroy(trial.layouts[i]);
    gyre_pack_finish(&trial.pack);
    unseen_destroy(trial.types);
    gyre_temporary_remove(&folder);
    return right;
}

/* Queues of bytes have no spans in memory of the device. */
static const char *const bytes_settings[] = {"queue.default.wire=memorypack", "queue.default.span_handles=0",
                                             NULL};

static gyre_runtime *open_runtime(const char *backend, char **more, const char *const *last)
{
    const char *settings[SETTINGS_MAX] = {NULL};
    gyre_runtime *runtime = NULL;
    size_t count = 0;
    for (; count < SETTINGS_MAX - 3 && more[count]; count++)
        settings[count] = more[count];
    for (size_t i = 0; last && last[i]; i++)
        settings[count++] = last[i];
    const gyre_open_desc open = {.size = sizeof open, .backend = backend, .settings = settings};
    if (gyre_open(&open, &runtime) != GYRE_OK)
        exchange_tell("open");
    return runtime;
}

int main(int argc, char **argv)
{
    gyre_backend_choice choice = {.size = sizeof choice};
    if (argc < 5)
        return fprintf(stderr, "usage: test_unseen BACKEND FIRST_SEED SEEDS MESSAGES [SETTING...]\n"), 2;
    struct trial trial = {.plain = open_runtime(argv[1], argv + 5, NULL),
                          .wired = open_runtime(argv[1], argv + 5, bytes_settings),
                          .messages = strtoull(argv[4], NULL, 10)};
    int code = !trial.plain || !trial.wired;
    if (!code && gyre_backend_choose(trial.plain, argv[1], &choice) != GYRE_OK)
        code = exchange_tell("skipped") ? 1 : SKIPPED;
    const uint64_t first = strtoull(argv[2], NULL, 10), seeds = strtoull(argv[3], NULL, 10);
    uint64_t wrong = 0;
    for (uint64_t seed = first; !code && seed < first + seeds; seed++)
        wrong += !try_seed(&trial, seed);
    if (!code)
        printf("%llu seeds from %llu on, %llu wrong\n", (unsigned long long)seeds, (unsigned long long)first,
               (unsigned long long)wrong);
    gyre_close(trial.plain);
    gyre_close(trial.wired);
    return code ? code : wrong != 0;
}
