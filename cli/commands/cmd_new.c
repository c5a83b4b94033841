/* SPDX-License-Identifier: Apache-2.0 */
/* gyre new: makes a project that builds and runs as it stands. Judges the name; new_project.c writes the files. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json/json.h"
#include "cli/new/new_project.h"

static const char HELP[] =
    "usage: gyre new [--form FORM] [--language LANGUAGE] FOLDER\n"
    "\n"
    "Makes a project in a new folder: messages, a handler, a program, a test, gyre.ini, CMakeLists.txt, README.md. It\n"
    "builds and runs as it stands:\n"
    "\n"
    "  gyre new scale\n"
    "  cmake -S scale -B scale/build\n"
    "  cmake --build scale/build --target run\n"
    "\n"
    "or, in Python, with the package gyre_kernels:\n"
    "\n"
    "  gyre new --language python scale\n"
    "  python3 scale/main.py\n"
    "\n"
    "The last part of FOLDER is the name of the kernel and of the program: a small letter, then small letters, digits\n"
    "and _, 40 at most.\n"
    "\n"
    "Options:\n"
    "  --form FORM   what the handler is (lane):\n"
    "                  lane      each request by one lane, many at once\n"
    "                  block     each request by all lanes of a block together\n"
    "                  actor     one request after the other, with a state\n"
    "                  pipeline  two kernels, of which one sends to the other\n"
    "  --language LANGUAGE\n"
    "                what the program and the test are written in (c): c, c++ or python; handlers are in C\n"
    "\n"
    "Writes nothing where a file or folder of that name exists.\n";

enum { NAME_MAX_LENGTH = 40 };

/* Names that CMake or the project's own CMakeLists.txt gives to other targets. */
static const char *const taken[] = {
    "all",     "clean",          "depend",     "edit_cache",    "handlers", "help", "install",
    "package", "package_source", "preinstall", "rebuild_cache", "run",      "test", NULL};

static const char *const keywords[] = {
    "asm",    "auto",   "break",    "case",     "char",     "const", "continue", "default", "do",
    "double", "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline",
    "int",    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static",
    "struct", "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while",   NULL};

/* Headers of the C library: the project's own header of that name would be found in their place where the handler is
 * compiled. features and strings are no headers of C, but others include them. */
static const char *const headers[] = {
    "assert",  "complex", "ctype",  "errno",  "features", "fenv",   "inttypes", "iso646",
    "limits",  "locale",  "math",   "setjmp", "signal",   "stdarg", "stdalign", "stdatomic",
    "stdbool", "stddef",  "stdint", "stdio",  "stdlib",   "string", "strings",  "stdnoreturn",
    "tgmath",  "threads", "time",   "uchar",  "wchar",    "wctype", NULL};

static bool is_in(const char *const *list, const char *name)
{
    for (size_t i = 0; list[i]; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static bool is_taken(const char *name)
{
    return is_in(taken, name) || is_in(keywords, name) || is_in(headers, name);
}

static bool is_word(const char *name)
{
    if (!islower((unsigned char)name[0]))
        return false;
    for (size_t i = 0; name[i]; i++)
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

/* Makes a name that is_word out of `name`; writes "" where that is not possible. */
static void suggest(const char *name, char suggested[NAME_MAX_LENGTH + 1])
{
    size_t length = 0;
    for (; length < NAME_MAX_LENGTH && name[length]; length++) {
        const unsigned char letter = (unsigned char)name[length];
        suggested[length] = isalnum(letter) ? (char)tolower(letter) : '_';
    }
    suggested[length] = '\0';
    if (!is_word(suggested) || is_taken(suggested) || strncmp(suggested, "gyre", 4) == 0)
        suggested[0] = '\0';
}

/* CLI_OK, or the exit code of a name that no kernel and no program could have, with its sentence. */
static int judge_name(const cli_context *cli, const char *name)
{
    char suggested[NAME_MAX_LENGTH + 1];
    if (strlen(name) > NAME_MAX_LENGTH)
        return cli_usage_error(cli, "'%s' is too long for a name: expected %d letters at most, found %zu",
                               name, (int)NAME_MAX_LENGTH, strlen(name));
    if (is_in(keywords, name))
        return cli_usage_error(cli, "'%s' is a keyword of C; choose another name", name);
    if (is_in(headers, name))
        return cli_usage_error(cli, "'%s.h' is a header of the C library; choose another name", name);
    if (is_in(taken, name))
        return cli_usage_error(cli, "'%s' is a target of CMake; choose another name", name);
    if (strncmp(name, "gyre", 4) == 0)
        return cli_usage_error(cli, "'%s': names that begin with gyre are Gyre's own; choose another one",
                               name);
    if (is_word(name))
        return CLI_OK;
    suggest(name, suggested);
    if (suggested[0])
        return cli_usage_error(
            cli,
            "'%s' is no name for a kernel: expected a small letter, then small letters, digits "
            "and _; did you mean '%s'?",
            name, suggested);
    return cli_usage_error(
        cli, "'%s' is no name for a kernel: expected a small letter, then small letters, digits and _", name);
}

static int tell_json(const new_project *made)
{
    json_t *files = json_array();
    char *path;
    for (size_t i = 0; (path = project_file(made, i)); i++) {
        json_array_append_new(files, cli_json_text(path));
        free(path);
    }
    return cli_print_json(cli_json_object("sssso", "name", made->name, "form", made->form->name, "language",
                                          made->language->name, "folder", made->folder, "files", files));
}

static int tell(const cli_context *cli, const new_project *made)
{
    char *path;
    if (cli->json)
        return tell_json(made);
    for (size_t i = 0; (path = project_file(made, i)); i++) {
        printf("%s\n", path);
        free(path);
    }
    const char *quote = strpbrk(made->folder, " \t'\"\\$`*?[(&;|<>#~!") ? "'" : "";
    if (!made->language->languages) {
        printf("\nRun it:\n  python3 %s%s/main.py%s\n", quote, made->folder, quote);
        return CLI_OK;
    }
    printf("\nBuild and run it:\n"
           "  cmake -S %s%s%s -B %s%s/build%s\n"
           "  cmake --build %s%s/build%s --target run\n",
           quote, made->folder, quote, quote, made->folder, quote, quote, made->folder, quote);
    return CLI_OK;
}

/* "" when the folder that the new one is to lie in is there, or is not what is missing. */
static const char *missing_around(const char *folder, int reason, char *text, size_t size)
{
    const char *slash = strrchr(folder, '/');
    text[0] = '\0';
    if (reason == ENOENT && slash && slash != folder)
        snprintf(text, size, "%.*s", (int)(slash - folder), folder);
    return text[0] && access(text, F_OK) != 0 ? text : "";
}

static int make(const cli_context *cli, const new_project *wanted)
{
    char *failed;
    if (project_write(wanted, &failed))
        return tell(cli, wanted);
    const int reason = errno;
    const char *what = failed ? failed : wanted->folder;
    char text[PATH_MAX];
    const char *missing = missing_around(wanted->folder, reason, text, sizeof text);
    const int code =
        reason == EEXIST
            ? cli_error(
                  CLI_FAILED,
                  "'%s' exists already, and gyre new writes over nothing: remove it, or name another folder",
                  what)
        : *missing ? cli_error(CLI_FAILED,
                               "cannot make '%s': the folder '%s' is missing: make it, or name another one",
                               what, missing)
                   : cli_error(CLI_FAILED, "cannot make '%s': %s", what, strerror(reason));
    free(failed);
    return code;
}

/* CLI_OK, or the exit code of a form or a language that there is not. */
static int judge_kind(const cli_context *cli, const new_project *wanted, const char *form,
                      const char *language)
{
    if (!wanted->form)
        return cli_usage_error(cli, "--form: expected lane, block, actor or pipeline, found '%s'", form);
    if (!wanted->language)
        return cli_usage_error(cli, "--language: expected c, c++ or python, found '%s'", language);
    return CLI_OK;
}

static int run_with(const cli_context *cli, const char *form, const char *language, const char *operand)
{
    char *folder = strdup(operand);
    if (!folder)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t end = strlen(folder); end > 1 && folder[end - 1] == '/'; end--)
        folder[end - 1] = '\0';
    const char *slash = strrchr(folder, '/');
    const new_project wanted = {.form = project_form_find(form),
                                .language = project_language_find(language),
                                .folder = folder,
                                .name = slash ? slash + 1 : folder};
    int code = judge_kind(cli, &wanted, form, language);
    if (code == CLI_OK)
        code = judge_name(cli, wanted.name);
    if (code == CLI_OK)
        code = make(cli, &wanted);
    free(folder);
    return code;
}

static int run(cli_context *cli)
{
    const char *form = "lane", *language = "c";
    const cli_option options[] = {{"--form", .text = &form}, {"--language", .text = &language}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count == 0)
        return cli_usage_error(cli, "expected the folder of the new project");
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected one folder, found '%s' too", cli->operands.items[1]);
    return run_with(cli, form, language, cli->operands.items[0]);
}

const cli_command cli_command_new = {"new", "make a project: handler, program, test, settings", HELP, run};
