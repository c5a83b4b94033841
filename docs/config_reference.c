/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre-config-doc --write FILE | --check FILE: the page configuration.md, made from the table of keys.
 *
 * --check fails when FILE is not what --write would write. What is not about one key is the text below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/ini_file.h"
#include "core/config/table.h"
#include "core/config/value.h"

static const char introduction[] =
    "# Configuration\n"
    "\n"
    "<!-- Generated from core/config/table.c by docs/config_reference.c: change those, then run `ninja docs`. -->\n"
    "\n"
    "For everyone who sets a key of `gyre.ini`: this page says where values come from and lists every key.\n"
    "Gyre needs no configuration. `gyre config` prints every effective value and where it came from. `gyre config --memory FILE`\n"
    "(or the name of a kernel whose `source` is configured) prints the memory that the queues of its kernels take. Both refuse\n"
    "settings that a launch would refuse, as far as that can be known without a launch.\n"
    "\n"
    "```ini\n"
    "[gyre]\n"
    "backend = cpu\n"
    "\n"
    "[backend.cpu]\n"
    "threads = 4\n"
    "\n"
    "[queue.default]      ; every queue\n"
    "capacity = 4096\n"
    "\n"
    "[queue.orders]       ; the queue opened with this name\n"
    "policy = drop_oldest\n"
    "```\n"
    "\n"
    "## Where values come from\n"
    "\n"
    "Later ones beat earlier ones, key by key:\n"
    "\n"
    "1. the built-in default;\n"
    "2. the vendor's file, `gyre/gyre.ini` beside the library;\n"
    "3. the system's files: `gyre/gyre.ini` in each folder of `$XDG_CONFIG_DIRS` (`/etc/xdg`), then\n"
    "   `/etc/gyre/gyre.ini`;\n"
    "4. drop-ins, in the order of their file names (below);\n"
    "5. the user's file, `$XDG_CONFIG_HOME/gyre/gyre.ini` (`~/.config/gyre/gyre.ini`);\n"
    "6. the file that `--config` names, or else the environment's `GYRE_CONFIG`;\n"
    "7. the environment;\n"
    "8. the command line: `--set SECTION.KEY=VALUE`;\n"
    "9. the program: the settings it passes to `gyre_open`.\n"
    "\n"
    "No file of the current directory is read unless it is named. A file of 2 to 5 may be absent. A file that\n"
    "cannot be read, or has an error, stops the program with a sentence that names file and line; nothing takes effect\n"
    "from it. Exception: a file of 2 to 5 that this user may not read counts as absent, with a warning, because a process\n"
    "may run with the `HOME` of another user. A wrong value is an error even where a later one would beat it.\n"
    "\n"
    "An unknown key or section is ignored with a warning that names its place and the nearest name; `strict = true`\n"
    "makes it an error. Names of kernels and queues are free, so `[kernel.buckt]` is not unknown; when a kernel `bucket`\n"
    "without a section is launched, the log names the section with the similar name.\n"
    "\n"
    "### Drop-ins\n"
    "\n"
    "A backend brings a small file that names its plugin, such as `plugins.d/cpu.ini`. The folders are `gyre/plugins.d`\n"
    "beside the library, `/etc/gyre/plugins.d` and `$XDG_CONFIG_HOME/gyre/plugins.d`. A file of a later folder replaces\n"
    "the file of the same name in an earlier one; a link to `/dev/null` in its place disables it:\n"
    "\n"
    "```sh\n"
    "ln -s /dev/null ~/.config/gyre/plugins.d/cpu.ini\n"
    "```\n"
    "\n"
    "The file that names a backend's `library` may set further keys in the same section: it introduces these keys. They can\n"
    "then be set everywhere else, and are handed to the backend as text.\n"
    "\n"
    "### Environment\n"
    "\n"
    "`GYRE_<KEY>` is a key of `[gyre]`, `GYRE_OBSERVE__<KEY>` of `[observe]`; "
    "`GYRE_<KIND>__<NAME>__<KEY>`, with two\n"
    "underscores, a key of `[kind.name]`. A name in capitals is meant in small letters. A variable that is empty counts as unset.\n"
    "\n"
    "```sh\n"
    "GYRE_BACKEND=cpu GYRE_BACKEND__CPU__THREADS=2 GYRE_QUEUE__DEFAULT__IDLE=park gyre config\n"
    "```\n"
    "\n"
    "`GYRE_CONFIG` is the path of a file. `GYRE_REQUIRE`, `GYRE_NO_INSTALL` and variables that begin with `GYRE_TEST_`\n"
    "belong to the project's own scripts and tests. Any other variable is a setting, and a mistyped one warns.\n"
    "\n";

static const char names_and_format[] =
    "## Sections by name\n"
    "\n"
    "`[kernel.NAME]` is for the kernel launched under that name, `[queue.NAME]` for the queue opened with it; the queue\n"
    "that comes with a kernel has the kernel's name. `[pipeline.NAME]` is for the pipeline of that name; the name of a\n"
    "`[link.NAME]` or `[topic.NAME]` is for people.\n"
    "\n"
    "The section named `default` of a kind, such as `[queue.default]`, gives the keys that other sections of its kind do\n"
    "not set. A named section beats `default`, whichever file either is in.\n"
    "\n"
    "A section for nobody is told if its name resembles one in use, or if it stands in the file of `--config`.\n"
    "\n"
    "## The format of the files\n"
    "\n"
    "- `[section]` and `key = value` start in the first column, one a line. An indented line is an error: a value\n"
    "  cannot continue on the next line.\n";

static const char format_rules[] =
    "- A comment is a line that starts with `;` or `#`, or the text behind white space and `;` after a value\n"
    "  or a section. White space and `;` inside quotes are an error, because they would cut the value.\n"
    "- A key is set once a section; setting it twice in one file is an error. A section may be opened again.\n"
    "- Files are UTF-8, with or without byte order mark, with line ends LF or CRLF, of at most 1 MiB.\n"
    "- Quotes are ordinary characters.\n"
    "- A relative path is relative to the folder of the file that says it (in the environment and on the command\n"
    "  line: to the current directory), and `~/` is the home folder. `library` has its own rule, said there.\n";

static void write_limits(FILE *out)
{
    fprintf(out,
            "- A line has at most %d bytes, the name of a section %d characters. Comments have no limit.\n",
            GYRE_INI_LINE_MAX, GYRE_INI_SECTION_MAX);
}

static const char *heading(enum gyre_section_kind kind, const char *backend)
{
    static const char *const headings[] = {
        [GYRE_SECTION_GYRE] = "## [gyre]\n",
        [GYRE_SECTION_BACKEND] = "## [backend.NAME]\n\nFor every backend.\n",
        [GYRE_SECTION_KERNEL] = "## [kernel.NAME]\n",
        [GYRE_SECTION_QUEUE] = "## [queue.NAME]\n",
        [GYRE_SECTION_PIPELINE] =
            "## [pipeline.NAME]\n\nKernels that send to kernels: [pipelines.md](pipelines.md).\n",
        [GYRE_SECTION_LINK] =
            "## [link.NAME]\n\nA pipeline has the links that begin at a kernel that its entries lead to.\n",
        [GYRE_SECTION_OBSERVE] =
            "## [observe]\n\nWhat `gyre stat` sees of a process from outside: [observation.md](observation.md).\n",
        [GYRE_SECTION_CLUSTER] =
            "## [cluster]\n\nKeyed kernels whose keys are spread over several processes: [cluster.md](cluster.md).\n",
        [GYRE_SECTION_TOPIC] =
            ("## [topic.NAME]\n\nA link with several targets, each of which gets every message: "
             "[pipelines.md](pipelines.md#topics).\n"),
        [GYRE_SECTION_POOL] = ("## [pool.NAME]\n\nA link with several targets, one of which takes a message: "
                               "[pipelines.md](pipelines.md#pools).\n"),
    };
    static char own[128];
    if (!backend)
        return headings[kind];
    snprintf(own, sizeof own, "### [backend.%s]\n\nOnly for this backend.\n", backend);
    return own;
}

/* What a preset that is found at run time means to a reader. */
static const char *preset_words(const char *preset)
{
    if (strcmp(preset, "@plugins") == 0)
        return "`gyre/plugins` beside the library";
    if (strcmp(preset, "@dropins") == 0)
        return "the folders of drop-ins above";
    if (strcmp(preset, "@cache") == 0)
        return "`$XDG_CACHE_HOME/gyre` (`~/.cache/gyre`)";
    return NULL;
}

static void write_row(FILE *out, const struct gyre_config_row *row)
{
    char expected[256];
    gyre_value_expected(row, expected, sizeof expected);
    const char *words = preset_words(row->preset);
    fprintf(out, "| `%s` | %s | ", row->key, expected);
    if (words)
        fprintf(out, "%s", words);
    else if (*row->preset)
        fprintf(out, "`%s`", row->preset);
    else
        fputs("empty", out);
    fprintf(out, " | %s |\n", row->doc);
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void write_page(FILE *out)
{
    size_t count;
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    fputs(introduction, out);
    fputs(names_and_format, out);
    write_limits(out);
    fputs(format_rules, out);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].kind != rows[i - 1].kind || !same_text(rows[i].backend, rows[i - 1].backend))
            fprintf(out, "\n%s\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n",
                    heading(rows[i].kind, rows[i].backend));
        write_row(out, &rows[i]);
    }
}

static char *page_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    write_page(out);
    return fclose(out) == 0 ? text : NULL;
}

/* The page as it lies on disk; NULL when it cannot be read. */
static char *read_page(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    ssize_t length = getdelim(&text, &room, '\0', in);
    fclose(in);
    if (length >= 0)
        return text;
    free(text);
    return NULL;
}

static int check_page(const char *path, const char *page)
{
    char *found = read_page(path);
    int same = found && strcmp(found, page) == 0;
    free(found);
    if (!same)
        fprintf(stderr, "%s is not what the table of keys says; run `ninja docs` and commit the page\n",
                path);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int write_file(const char *path, const char *page)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return EXIT_FAILURE;
    }
    fputs(page, out);
    if (fclose(out) == 0)
        return EXIT_SUCCESS;
    perror(path);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int check = argc == 3 && strcmp(argv[1], "--check") == 0;
    int write = argc == 3 && strcmp(argv[1], "--write") == 0;
    char *page = page_text();
    int code = EXIT_FAILURE;
    if (!page)
        perror("gyre-config-doc");
    else if (check)
        code = check_page(argv[2], page);
    else if (write)
        code = write_file(argv[2], page);
    else
        fputs("usage: gyre-config-doc --write FILE | --check FILE\n", stderr);
    free(page);
    return code;
}
