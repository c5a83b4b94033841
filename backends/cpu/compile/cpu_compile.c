/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operation `compile`: runs the C compiler as a child process. The result and its list of dependencies appear
 * under their names only when the compiler succeeded. Takes no lock: any thread may compile, because each
 * call has files of its own. Never runs a shell, because paths may hold any characters.
 */
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/compile/cpu_compile.h"
#include "backends/cpu/compile/cpu_compiler.h"

#include "gyre/lack.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 128, OUTPUT_SIZE = 64 * 1024 };

/* A command line: pointers into `text`, which holds all words one after the other. */
struct command {
    const char *arguments[ARGUMENTS_MAX + 1];
    size_t count, used;
    int overflow;
    char text[32 * 1024];
};

/*
 * Options for `checked`: the compiler puts calls before each access to memory and before each use of an index
 * of an array; dialect/c11_checked.h defines the called functions. This is the sanitizer's variant for the
 * Linux kernel, which needs no runtime and no shadow memory. -Og keeps the compiler from merging equal code
 * of several lines.
 */
#define CHECKS_ "-DGYRE_CHECKED_INDICES=1 -Og -g1 -fno-omit-frame-pointer -fsanitize-recover=all "
static const char checks_of_gcc[] =
    CHECKS_ "-fsanitize=kernel-address,bounds-strict --param asan-instrumentation-with-call-threshold=0 "
            "--param asan-stack=0 --param asan-globals=0 --param asan-instrument-allocas=0";
static const char checks_of_clang[] =
    CHECKS_ "-fsanitize=kernel-address,bounds -mllvm -asan-instrumentation-with-call-threshold=0 "
            "-mllvm -asan-stack=0 -mllvm -asan-globals=0";

/*
 * Options for `check`: the same, with the calls of ThreadSanitizer, which tell a read from a write and an atomic
 * operation. dialect/c11_watched.h defines them. Without the libraries that a compiler adds by itself, because that
 * sanitizer's runtime is one of them.
 */
#define WATCHES_ CHECKS_ "-DGYRE_WATCHED=1 -nodefaultlibs "
static const char watches_of_gcc[] = WATCHES_ "-fsanitize=thread,bounds-strict";
/* -O0: with more, clang keeps a loop's sum in a register, and tells of one access by no line */
static const char watches_of_clang[] =
    WATCHES_ "-O0 -fsanitize=thread,bounds -mllvm -tsan-instrument-func-entry-exit=0 "
             "-mllvm -tsan-instrument-read-before-write";

/*
 * Options for the check `traffic`, behind those: code of about as many instructions as a GPU's, with a call where code without
 * branches begins. -O3 keeps values in registers and
 * unrolls small loops, as a GPU's compiler does; nothing is done for several items at once.
 */
#define TRACES_ "-DGYRE_TRACED=1 -O3 -fsanitize-coverage=trace-pc -fno-sanitize=bounds "
static const char traces_of_gcc[] =
    TRACES_ "-fno-sanitize=bounds-strict -fno-tree-vectorize -fno-tree-slp-vectorize "
            "-fno-tree-loop-distribute-patterns -fno-unswitch-loops";
static const char traces_of_clang[] = TRACES_ "-fno-vectorize -fno-slp-vectorize";

__attribute__((format(printf, 2, 3))) static void add_argument(struct command *command, const char *format,
                                                               ...)
{
    char *word = command->text + command->used;
    size_t room = sizeof command->text - command->used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(word, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room || command->count == ARGUMENTS_MAX) {
        command->overflow = 1;
        return;
    }
    command->arguments[command->count++] = word;
    command->arguments[command->count] = NULL;
    command->used += (size_t)length + 1;
}

static void add_words(struct command *command, const char *words)
{
    while (words && *words) {
        words += strspn(words, " \t\n");
        size_t length = strcspn(words, " \t\n");
        if (length)
            add_argument(command, "%.*s", (int)length, words);
        words += length;
    }
}

/* The unfinished files of one compile. */
struct scratch_files {
    char object[PATH_MAX], rule[PATH_MAX];
};

static int name_scratch_files(struct scratch_files *files, const char *artifact_path)
{
    int a = snprintf(files->object, sizeof files->object, "%s.new", artifact_path);
    int b = snprintf(files->rule, sizeof files->rule, "%s.d", artifact_path);
    return a > 0 && (size_t)a < sizeof files->object && b > 0 && (size_t)b < sizeof files->rule;
}

/*
 * Adds options that shorten file names in assertions and barriers: names in the user's folder, the first
 * include folder, lose the folder.
 */
static void add_folders(struct command *command, const char *const *folders)
{
    for (size_t i = 0; folders && folders[i]; i++) {
        add_argument(command, "-I%s", folders[i]);
        if (i == 0)
            add_argument(command, "-fmacro-prefix-map=%s/=", folders[i]);
    }
}

static void build_command(struct command *command, const struct cpu_settings *settings, const char *program,
                          const gyre_compile_desc *desc, const struct scratch_files *files)
{
    add_argument(command, "%s", program);
    add_words(command, cpu_compiler_fixed_options);
    if (cpu_compiler_is_gcc(
            program)) /* reports errors in macros where the user wrote the macro, as clang does */
        add_argument(command, "-ftrack-macro-expansion=0");
    add_words(command, settings->compiler_options);
    add_words(command, desc->options);
    if (settings->checks)
        add_words(command, cpu_compiler_is_gcc(program) ? watches_of_gcc : watches_of_clang);
    if (settings->checks & CPU_CHECK_TRAFFIC)
        add_words(command, cpu_compiler_is_gcc(program) ? traces_of_gcc : traces_of_clang);
    else if (settings->checked && !settings->checks)
        add_words(command, cpu_compiler_is_gcc(program) ? checks_of_gcc : checks_of_clang);
    if (settings->sanitize[0]) {
        add_argument(command, "-fsanitize=%s", settings->sanitize);
        add_words(command, "-fno-omit-frame-pointer -g");
    } else {
        add_argument(
            command,
            "-Wl,-z,defs"); /* a function that is declared but never defined must fail here, not at loading */
    }
    add_folders(command, desc->include_directories);
    if (desc->dependency_path) {
        add_argument(command, "-MD");
        add_argument(command, "-MF");
        add_argument(command, "%s", files->rule);
    }
    add_argument(command, "-o");
    add_argument(command, "%s", files->object);
    add_words(command, "-x c");
    add_argument(command, "%s", desc->unit_path);
    add_words(command, settings->checks ? "-x none -lm -lc -lgcc" : "-x none -lm");
}

static void give_messages(const gyre_compile_desc *desc, const char *output)
{
    if (desc->messages && desc->messages_size)
        snprintf(desc->messages, desc->messages_size, "%s", output);
}

static gyre_status explain_failure(const gyre_device *device, const char *output, int exit_code)
{
    char sentence[600];
    cpu_first_error(output, sentence, sizeof sentence);
    const int lack = gyre_lack_in(sentence); /* the compiler runs under the limits of this process, too */
    if (sentence[0])
        return device->host->error(gyre_lack_status(lack, GYRE_FAILED), "%s%s", sentence,
                                   gyre_lack_remedy(lack));
    return device->host->error(GYRE_FAILED, "the C compiler '%s' failed with exit code %d and said nothing",
                               device->settings.compiler, exit_code);
}

static gyre_status no_compiler(const gyre_device *device)
{
    return device->host->error(
        GYRE_UNAVAILABLE,
        "there is no C compiler '%s' on this machine: install one (Debian, Ubuntu: apt "
        "install gcc libc6-dev), set backend.cpu.compiler, or give a file that `gyre "
        "compile -o` wrote on another machine",
        device->settings.compiler);
}

static gyre_status run_compiler(const gyre_device *device, const struct command *command,
                                const gyre_compile_desc *desc, char *output)
{
    int exit_code = 0;
    gyre_program_desc program = {.size = sizeof program,
                                 .arguments = command->arguments,
                                 .deadline_ns = desc->deadline_ns,
                                 .output = output,
                                 .output_size = OUTPUT_SIZE};
    gyre_status status = device->host->run_program(&program, &exit_code);
    give_messages(desc, output);
    if (status == GYRE_NOT_FOUND)
        return no_compiler(device);
    if (status == GYRE_TIMEOUT)
        return device->host->error(GYRE_TIMEOUT,
                                   "the C compiler '%s' did not end in the time "
                                   "that compile_timeout_ms allows and was killed",
                                   device->settings.compiler);
    if (status == GYRE_OK && exit_code != 0)
        return explain_failure(device, output, exit_code);
    return status;
}

/*
 * Gives the files their final names, the list of dependencies first: whoever sees the artifact finds the
 * list, too.
 */
static gyre_status publish_artifact(const gyre_device *device, const gyre_compile_desc *desc,
                                    const struct scratch_files *files)
{
    if (access(files->object, R_OK) != 0)
        return device->host->error(
            GYRE_FAILED,
            "the C compiler '%s' reported success and wrote nothing: expected one that takes "
            "the options of gcc (backend.cpu.compiler)",
            device->settings.compiler);
    if (desc->dependency_path && !cpu_dependencies_convert(files->rule, desc->dependency_path))
        return device->host->error(gyre_lack_status(errno, GYRE_FAILED),
                                   "the C compiler's list of files '%s' cannot "
                                   "be read or '%s' cannot be written: %s%s",
                                   files->rule, desc->dependency_path, strerror(errno),
                                   gyre_lack_remedy(errno));
    if (rename(files->object, desc->artifact_path) != 0)
        return device->host->error(gyre_lack_status(errno, GYRE_FAILED),
                                   "the compiled kernel cannot be put at '%s': %s", desc->artifact_path,
                                   strerror(errno));
    return GYRE_OK;
}

gyre_status cpu_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    struct scratch_files files;
    char program[PATH_MAX];
    if (!cpu_compiler_find(device->settings.compiler, program))
        return no_compiler(device);
    if (!name_scratch_files(&files, desc->artifact_path))
        return device->host->error(GYRE_INVALID, "the path '%s' is too long", desc->artifact_path);
    struct command *command = calloc(1, sizeof *command);
    char *output = calloc(1, OUTPUT_SIZE);
    gyre_status status = GYRE_OK;
    if (!command || !output) {
        status = device->host->error(GYRE_EXHAUSTED, "no memory for the C compiler's output");
        goto done;
    }
    build_command(command, &device->settings, program, desc, &files);
    if (command->overflow) {
        status = device->host->error(GYRE_INVALID, "the C compiler's options are too many or too long");
        goto done;
    }
    status = run_compiler(device, command, desc, output);
    if (status == GYRE_OK)
        status = publish_artifact(device, desc, &files);
    unlink(files.object);
    unlink(files.rule);
done:
    free(command);
    free(output);
    return status;
}
