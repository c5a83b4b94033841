/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operation `compile`: one generated unit to one shared object, by the C compiler as a child process. Any
 * thread; each call has files of its own. The result appears under its name only when all went well. Must not
 * run a shell: paths may hold anything.
 */
#include "solo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 128, OUTPUT_SIZE = 64 * 1024 };

/*
 * GNU C, because the dialect's headers ask for it; no contraction, so that a * b + c rounds as on every other
 * backend; errors without columns, so that they read FILE:LINE: text.
 */
static const char fixed_options[] =
    "-std=gnu11 -O2 -g -ffp-contract=off -shared -fPIC -fvisibility=hidden -fno-show-column "
    "-fdiagnostics-color=never -Wall -Wno-unknown-pragmas -Wno-unused-function "
    "-Werror=implicit-function-declaration -Werror=incompatible-pointer-types -Werror=int-conversion "
    "-Werror=return-type -Wl,-z,defs";

/** A command line and the copies of words that it points into. */
struct command {
    const char *arguments[ARGUMENTS_MAX + 1]; /* ends with NULL */
    size_t count;
    bool overflow;
    char include[ARGUMENTS_MAX][PATH_MAX + 2];
    char words[2][8192];
    char object[PATH_MAX], rule[PATH_MAX];
};

static void add(struct command *command, const char *word)
{
    if (command->count == ARGUMENTS_MAX)
        command->overflow = true;
    else
        command->arguments[command->count++] = word;
}

/* Splits `text` in the copy that the command line then points into. */
static void add_words(struct command *command, char *copy, size_t size, const char *text)
{
    char *rest = NULL;
    if (snprintf(copy, size, "%s", text) >= (int)size)
        command->overflow = true;
    for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        add(command, word);
}

static void add_folders(struct command *command, const char *const *folders)
{
    for (size_t i = 0; folders && folders[i] && i < ARGUMENTS_MAX; i++) {
        snprintf(command->include[i], sizeof command->include[i], "-I%s", folders[i]);
        add(command, command->include[i]);
    }
}

static void build_command(struct command *command, const gyre_device *device, const gyre_compile_desc *desc)
{
    int object = snprintf(command->object, PATH_MAX, "%s.new", desc->artifact_path);
    int rule = snprintf(command->rule, PATH_MAX, "%s.d", desc->artifact_path);
    command->overflow = object >= PATH_MAX || rule >= PATH_MAX;
    add(command, device->compiler);
    add_words(command, command->words[0], sizeof command->words[0], fixed_options);
    add_words(command, command->words[1], sizeof command->words[1], desc->options ? desc->options : "");
    add_folders(command, desc->include_directories);
    add(command, "-MD");
    add(command, "-MF");
    add(command, command->rule);
    add(command, "-o");
    add(command, command->object);
    add(command, "-xc");
    add(command, desc->unit_path);
    add(command, "-xnone");
    add(command, "-lm");
}

static gyre_status no_compiler(const gyre_device *device)
{
    return device->host->error(GYRE_UNAVAILABLE,
                               "there is no C compiler '%s' on this machine: install one (Debian, Ubuntu: "
                               "apt install gcc libc6-dev), or set backend.solo.compiler",
                               device->compiler);
}

/* Everybody who compiles writes its output to `messages`, for people; the sentence is the first error. */
static gyre_status run_compiler(const gyre_device *device, const gyre_compile_desc *desc,
                                const struct command *command, char *output)
{
    char sentence[600];
    int exit_code = 0;
    gyre_program_desc program = {.size = sizeof program,
                                 .arguments = command->arguments,
                                 .deadline_ns = desc->deadline_ns,
                                 .output = output,
                                 .output_size = OUTPUT_SIZE};
    gyre_status status = device->host->run_program(&program, &exit_code);
    if (desc->messages && desc->messages_size)
        snprintf(desc->messages, desc->messages_size, "%s", output);
    if (status == GYRE_NOT_FOUND)
        return no_compiler(device);
    if (status == GYRE_TIMEOUT)
        return device->host->error(GYRE_TIMEOUT, "the C compiler '%s' did not end in time and was killed",
                                   device->compiler);
    if (status != GYRE_OK || exit_code == 0)
        return status;
    solo_first_error(output, sentence, sizeof sentence);
    if (sentence[0])
        return device->host->error(GYRE_FAILED, "%s", sentence);
    return device->host->error(GYRE_FAILED, "the C compiler '%s' failed with exit code %d", device->compiler,
                               exit_code);
}

/* The artifact last: once it is there, everything is. */
static gyre_status publish(const gyre_device *device, const gyre_compile_desc *desc,
                           const struct command *command)
{
    if (desc->dependency_path && !solo_list_dependencies(command->rule, desc->dependency_path))
        return device->host->error(GYRE_FAILED, "the list of files '%s' cannot be written: %s",
                                   desc->dependency_path, strerror(errno));
    if (rename(command->object, desc->artifact_path) != 0)
        return device->host->error(GYRE_FAILED, "the compiled kernel cannot be put at '%s': %s",
                                   desc->artifact_path, strerror(errno));
    return GYRE_OK;
}

gyre_status solo_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    struct command *command = calloc(1, sizeof *command);
    char *output = calloc(1, OUTPUT_SIZE);
    gyre_status status;
    if (!command || !output) {
        status = device->host->error(GYRE_EXHAUSTED, "no memory to run the C compiler");
        goto done;
    }
    build_command(command, device, desc);
    if (command->overflow) {
        status = device->host->error(GYRE_INVALID, "the C compiler's options or paths are too long");
        goto done;
    }
    status = run_compiler(device, desc, command, output);
    if (status == GYRE_OK)
        status = publish(device, desc, command);
    unlink(command->object);
    unlink(command->rule);
done:
    free(command);
    free(output);
    return status;
}

/* Part of the key of compiled kernels: another compiler, or other options, compile them anew. */
void solo_identify_compiler(gyre_device *device)
{
    const char *const arguments[] = {device->compiler, "--version", NULL};
    char version[256] = "";
    int exit_code = 0;
    gyre_program_desc program = {.size = sizeof program,
                                 .arguments = arguments,
                                 .deadline_ns = device->host->now_ns() + UINT64_C(5000000000),
                                 .output = version,
                                 .output_size = sizeof version};
    if (device->host->run_program(&program, &exit_code) != GYRE_OK || exit_code != 0)
        return;
    version[strcspn(version, "\n")] = '\0';
    snprintf(device->compiler_identity, sizeof device->compiler_identity, "%.96s: %.128s -O2",
             device->compiler, version);
}
