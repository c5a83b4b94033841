/* SPDX-License-Identifier: Apache-2.0 */
/* Crash points of runs (call_crash.h). The process that ends says where in a file, which is empty at the begin of each run. */
#include "cli/calls/call_crash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/api/tools.h"

enum { STEP_BITS = 10, PIPELINE_SETTINGS = 4 /* the first ones: its kernels have no checkpoints */ };

static uint64_t draw(uint64_t *state)
{
    uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

int call_crash_begin(call_crash *crash, uint64_t first)
{
    crash->checkpoint = crash->requests && !crash->is_pipeline ? draw(&first) % crash->requests : 0;
    crash->messages = crash->requests;
    const char *folder = getenv("TMPDIR");
    const int length = snprintf(crash->file, sizeof crash->file - 32, "%s/gyre-crash-XXXXXX",
                                folder && *folder ? folder : "/tmp");
    const bool fits = length > 0 && (size_t)length < sizeof crash->file - 32;
    const int descriptor = fits ? mkstemp(crash->file) : -1;
    if (descriptor < 0) {
        const int code = cli_error(CLI_FAILED, "cannot make the file '%s' for crash points: %s", crash->file,
                                   fits ? strerror(errno) : "the name of the folder in TMPDIR is too long");
        crash->file[0] = '\0';
        return code;
    }
    close(descriptor);
    return CLI_OK;
}

void call_crash_finish(call_crash *crash)
{
    if (crash->file[0])
        unlink(crash->file);
    crash->file[0] = '\0';
}

/*
 * Steps are drawn by the number of their bits: handlers of a few accesses and of hundreds have their points. One that is beyond the
 * message's accesses is the message's end.
 */
int call_crash_set(call_crash *crash, uint64_t seed, cli_list *settings)
{
    uint64_t state = seed;
    const uint64_t message = seed && crash->messages ? draw(&state) % crash->messages + 1 : 0;
    const uint64_t bits = draw(&state) % STEP_BITS, step = draw(&state) % (UINT64_C(1) << bits);
    const int size = CALL_CRASH_SETTING_SIZE;
    snprintf(crash->settings[0], size, "backend.cpu.isolation=process");
    snprintf(crash->settings[1], size, "backend.cpu.crash_file=%.480s", crash->file);
    snprintf(crash->settings[2], size, "backend.cpu.crash_message=%" PRIu64, message);
    snprintf(crash->settings[3], size, "backend.cpu.crash_step=%" PRIu64, step);
    snprintf(crash->settings[4], size, "kernel.default.checkpoints=true");
    snprintf(crash->settings[5], size, "kernel.default.checkpoint_ms=0"); /* time decides nothing */
    snprintf(crash->settings[6], size, "kernel.%s.checkpoints=true",
             crash->kernel[0] ? crash->kernel : "default");
    for (size_t i = 0; i < (crash->is_pipeline ? PIPELINE_SETTINGS : CALL_CRASH_SETTINGS); i++)
        if (!cli_list_add(settings, crash->settings[i]))
            return cli_error(CLI_FAILED, "out of memory");
    if (truncate(crash->file, 0) != 0)
        return cli_error(CLI_FAILED, "cannot empty the file '%s' for crash points: %s", crash->file,
                         strerror(errno));
    return CLI_OK;
}

bool call_crash_look(call_crash *crash, gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    crash->again = false;
    if (crash->is_pipeline || gyre_kernel_has_checkpoints(kernel))
        return true;
    if (!crash->kernel[0] && gyre_kernel_info_get(kernel, &info) == GYRE_OK) {
        snprintf(crash->kernel, sizeof crash->kernel, "%s", info.name);
        crash->again = true;
        return false;
    }
    crash->checkpoint = 0;
    return true;
}

/* The messages of a pipeline's stages are more than the requests. A worker process that wrote no number leaves the requests. */
static void count_messages(call_crash *crash)
{
    char line[64] = "";
    FILE *const file = crash->is_pipeline ? fopen(crash->file, "re") : NULL;
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        const uint64_t messages = strtoull(line, NULL, 10);
        crash->messages = messages ? messages : crash->requests;
    }
    fclose(file);
}

void call_crash_count(call_crash *crash, uint64_t seed)
{
    struct stat file;
    if (!seed) {
        count_messages(crash);
        return;
    }
    crash->tried++;
    crash->ended += stat(crash->file, &file) == 0 && file.st_size > 0;
}

int call_crash_judge(const call_crash *crash)
{
    if (crash->tried == 0)
        return cli_error(CLI_FAILED,
                         "--check crash: no crash was tried, because the run of the first seed has "
                         "none: give --seeds 2 or more");
    if (crash->ended == 0)
        return cli_error(CLI_FAILED,
                         "--check crash: the worker process ended in none of %" PRIu64
                         " runs, so nothing was tried: it ends where it can write to '%s'; is there room?",
                         crash->tried, crash->file);
    fprintf(stderr, "gyre: the worker process ended in %" PRIu64 " of %" PRIu64 " runs with a crash\n",
            crash->ended, crash->tried);
    return CLI_OK;
}

void call_crash_tell(const call_crash *crash, uint64_t seed, FILE *out)
{
    char line[1024] = "";
    FILE *const file = fopen(crash->file, "re");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        fprintf(out, "gyre: with seed %" PRIu64 " the worker process ended %s; ", seed, line);
        if (crash->is_pipeline)
            fprintf(
                out,
                "requests without an answer begin again in the next one, unless a stage is lost with what it kept\n");
        else if (crash->checkpoint)
            fprintf(out, "the next one went on from a checkpoint after request %" PRIu64 "\n",
                    crash->checkpoint);
        else
            fprintf(out, "the next one went on from the begin\n");
    }
    fclose(file);
}
