/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs by line (code_lines.h). objdump prints the instructions of a kernel file, with the lines that they come from; the calls
 * that tell of steps and accesses stand among them, and are no cost.
 */
#include "cli/estimate/code_lines.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/estimate/code_joins.h"
#include "cli/estimate/code_loops.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/pipeline/pipeline.h"
#include "gyre/dialect/cpu_watch.h"
#include "gyre/waiting.h"

enum { OUTPUT_SIZE = 32 * 1024 * 1024, LINES_MAX = 4096, DEADLINE_S = 60, FRAME_WITHOUT_ARRAYS = 64 };

/* What is being read of objdump's output. */
struct reading {
    code_lines *code;
    const traffic_file *traffic;
    char dialect[PATH_MAX]; /* the folder of the dialect's headers, with a '/' at its end */
    const traffic_step
        *step;       /* the code without branches that the next instructions belong to; NULL: none that ran */
    code_line *line; /* of the user's file; NULL: none was named yet in this function */
    bool begins;     /* a function begins: its first line tells whose it is */
    bool foreign;    /* a function of the dialect: its call is what counts */
    bool
        admits; /* a function that checks a message, made by its declaration: it runs whatever the handler does */
    bool own;            /* the next instructions are the checks' own */
    uint64_t taken;      /* instructions that ran and belong to a line of the user's */
    double latest;       /* the weight of the instruction before */
    char on_stack[8][8]; /* registers that hold an address of the handler's stack */
    uint32_t on_stack_count;
    code_loops loops;
    code_joins joins;
    bool awaits
        [2]; /* a read waits: none was in this code without branches yet, or something was written since */
    char data[8][8]; /* registers that got a value from memory, or a part of one, in this step */
    uint32_t data_count;
};

/* ---- lines ---- */

static code_line *find_line(code_lines *code, const char *path, uint32_t number)
{
    for (size_t i = code->count; i-- > 0;)
        if (code->lines[i].line == number && strcmp(code->lines[i].path, path) == 0)
            return &code->lines[i];
    if (code->count == LINES_MAX)
        return NULL;
    code_line *const line = &code->lines[code->count++];
    *line = (code_line){.line = number};
    snprintf(line->path, sizeof line->path, "%s", path);
    const char *const slash = strrchr(line->path, '/');
    snprintf(line->file, sizeof line->file, "%.63s", slash ? slash + 1 : line->path);
    gyre_text_end_whole(line->file);
    return line;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), most = strlen(end);
    return length >= most && strcmp(text + length - most, end) == 0;
}

/* Whether a file is the unit that is made around the handler, in the folder of its compile (core/pipeline/workspace.c, unit.c). */
static bool is_unit(const char *path)
{
    static const char folder[] = "/tmp/gyre-work-";
    return strncmp(path, folder, sizeof folder - 1) == 0 && ends_with(path, "/unit.c");
}

/* The length of a place without the words behind it: "/a folder/file.c:12" of "/a folder/file.c:12 (discriminator 3)". */
static size_t place_length(const char *text)
{
    static const char words[] = " (discriminator ";
    size_t length = strlen(text), digits = length;
    if (!length || text[length - 1] != ')')
        return length;
    digits = --length;
    while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
        digits--;
    const size_t most = sizeof words - 1;
    return digits < length && digits >= most && strncmp(text + digits - most, words, most) == 0
               ? digits - most
               : length + 1;
}

/*
 * Takes "/folder/file.c:12 (discriminator 3)". False when the text is none. The file may have any name, and comes from the user, who may
 * write one with #line.
 */
static bool take_place(struct reading *reading, const char *text)
{
    const char *const end = text + place_length(text);
    const char *colon = end;
    while (colon > text && isdigit((unsigned char)colon[-1]))
        colon--;
    if (text[0] != '/' || colon == end || colon - text < 2 || colon[-1] != ':')
        return false;
    char path[sizeof reading->code->lines->path];
    snprintf(path, sizeof path, "%.*s", (int)(colon - 1 - text), text);
    const size_t folder = strlen(reading->dialect);
    const bool dialect = strncmp(path, reading->dialect, folder) == 0;
    if (reading->begins)
        reading->foreign =
            dialect || ends_with(path, "/<gyre>"); /* the table of kernels, as unit.c names it */
    reading->begins = false;
    reading->own = reading->foreign || is_unit(path) ||
                   (dialect && (strncmp(path + folder, "c11_checked", sizeof "c11_checked" - 1) == 0 ||
                                strncmp(path + folder, "c11_watched", sizeof "c11_watched" - 1) == 0));
    if (reading->own || dialect)
        return true;
    gyre_text_end_whole(path);
    gyre_text_clean(path);
    code_line *const line = find_line(reading->code, path, (uint32_t)strtoul(colon, NULL, 10));
    reading->line = line ? line : reading->line;
    return true;
}

/* ---- what was counted ---- */

static const traffic_step *find_step(const traffic_file *traffic, uint64_t offset)
{
    for (size_t i = 0; i < traffic->step_count; i++)
        if (traffic->steps[i].offset == offset)
            return &traffic->steps[i];
    return NULL;
}

/* Reads that no branch and no write stands between are under way at once. A struct is read by its words. */
static void count_wait(struct reading *reading, const traffic_touch *touch)
{
    const bool writes = touch->how & GYRE_TOUCH_WRITES, scratch = touch->sort == GYRE_SORT_SCRATCH;
    double *const waits = scratch ? &reading->line->scratch_waits : &reading->line->waits;
    bool *const awaits = &reading->awaits[scratch];
    if (!writes && !scratch && touch->size > 16)
        *waits += (double)touch->issued * (double)(touch->size / 4);
    else if (!writes && *awaits)
        *waits += (double)touch->issued;
    *awaits = writes;
}

static void count_touch(code_line *line, const traffic_touch *touch)
{
    if (touch->how & GYRE_TOUCH_ATOMIC)
        line->atomics += touch->executed;
    if (touch->sort == GYRE_SORT_SCRATCH) {
        line->scratch += touch->issued;
        line->conflicts += touch->conflicts;
    } else if (touch->sort == GYRE_SORT_STATE || touch->sort == GYRE_SORT_BUFFER) {
        line->touches += touch->issued;
        line->sectors += touch->sectors;
        line->fresh += touch->fresh;
        line->needed += touch->needed;
        line->span = touch->span > line->span ? touch->span : line->span;
    }
}

/* `offset`: behind the call that told of the access. */
static void take_touches(struct reading *reading, uint64_t offset)
{
    for (size_t i = 0; reading->line && i < reading->traffic->touch_count; i++)
        if (reading->traffic->touches[i].offset == offset) {
            count_touch(reading->line, &reading->traffic->touches[i]);
            if (reading->traffic->touches[i].sort != GYRE_SORT_REQUEST &&
                reading->traffic->touches[i].sort != GYRE_SORT_REPLY)
                count_wait(reading, &reading->traffic->touches[i]);
        }
}

/* ---- instructions ---- */

/* The register that an operand names, without its width: "dx" of %edx, "r8" of %r8d. */
static void name_register(const char *operand, char name[8])
{
    const size_t length = strcspn(operand + 1, ",()");
    const char *const begin =
        operand + 1 + ((operand[1] == 'e' || operand[1] == 'r') && !isdigit((unsigned char)operand[2]));
    snprintf(name, 8, "%.*s",
             (int)(operand + 1 + length - begin) < 7 ? (int)(operand + 1 + length - begin) : 7, begin);
    if (isdigit((unsigned char)name[1]))
        name[strcspn(name, "dwb")] = '\0';
}

static bool is_on_stack(const struct reading *reading, const char *name, size_t length)
{
    if ((length == 3 && (strncmp(name, "rbp", 3) == 0 || strncmp(name, "rsp", 3) == 0)))
        return true;
    char own[8];
    name_register(name - 1, own);
    for (uint32_t i = 0; i < reading->on_stack_count; i++)
        if (strcmp(reading->on_stack[i], own) == 0)
            return true;
    return false;
}

/* Notes a register that gets an address of the stack, as of lea -0x120(%rbp),%r12, or another value. */
static void note_pointer(struct reading *reading, const char *name, const char *operands)
{
    const char *const last = strrchr(operands, '%');
    char target[8];
    if (!last || strchr(last, ')') || strncmp(name, "cmp", 3) == 0 || strncmp(name, "test", 4) == 0)
        return;
    name_register(last, target);
    for (uint32_t i = 0; i < reading->on_stack_count; i++)
        if (strcmp(name, "add") != 0 && strcmp(reading->on_stack[i], target) == 0)
            memcpy(reading->on_stack[i], reading->on_stack[--reading->on_stack_count], sizeof target);
    if (strcmp(name, "lea") == 0 && (strstr(operands, "(%rbp)") || strstr(operands, "(%rsp)")) &&
        reading->on_stack_count < 8)
        memcpy(reading->on_stack[reading->on_stack_count++], target, sizeof target);
}

/* Follows where the values of registers come from. A mask takes a part of a value: x % 64. */
static void note_data(struct reading *reading, const char *name, const char *operands)
{
    const char *const last = strrchr(operands, '%');
    char target[8];
    if (!last || strchr(last, ')') || strncmp(name, "cmp", 3) == 0 || strncmp(name, "test", 4) == 0)
        return;
    name_register(last, target);
    const bool loads = strncmp(name, "mov", 3) == 0 && strchr(operands, '(') && !strstr(operands, "(%rbp)") &&
                       !strstr(operands, "(%rsp)");
    const bool masks = strcmp(name, "and") == 0;
    for (uint32_t i = 0; i < reading->data_count; i++)
        if (strcmp(reading->data[i], target) == 0) {
            if (strncmp(name, "mov", 3) == 0 && !loads)
                reading->data[i][0] = '\0';
            return;
        }
    if ((loads || masks) && reading->data_count < 8)
        memcpy(reading->data[reading->data_count++], target, sizeof target);
}

static bool is_data(const struct reading *reading, const char *operands)
{
    const char *const comma = strchr(strchr(operands, '(') + 1, ',');
    char name[8];
    name_register(comma + 1, name);
    for (uint32_t i = 0; i < reading->data_count; i++)
        if (strcmp(reading->data[i], name) == 0)
            return true;
    return false;
}

/* Whether the operands name an item of an array on the stack, by an index in a register: -0x50(%rbp,%rdx,4). */
static bool is_local_item(const struct reading *reading, const char *name, const char *operands)
{
    const char *const open = strchr(operands, '('), *const comma = open ? strchr(open, ',') : NULL;
    const char *const close = open ? strchr(open, ')') : NULL;
    if (!comma || !close || comma > close || open[1] != '%' || strcmp(name, "lea") == 0)
        return false;
    return is_on_stack(reading, open + 2, (size_t)(comma - open - 2));
}

/* An addition or a multiplication of f32, of which a GPU makes twice as many at once as of others. */
static bool is_single(const char *name)
{
    const size_t length = strlen(name);
    const char *const own = name[0] == 'v' ? name + 1 : name;
    return length > 4 && strcmp(name + length - 2, "ss") == 0 &&
           (strncmp(own, "add", 3) == 0 || strncmp(own, "sub", 3) == 0 || strncmp(own, "mul", 3) == 0 ||
            strncmp(own, "fm", 2) == 0 || strncmp(own, "fnm", 3) == 0);
}

/* sub $0x118,%rsp: a function that ran makes room for its arrays, and for what an x86-64 has no register for. */
static void note_frame(struct reading *reading, const char *name, const char *operands)
{
    const uint64_t size =
        strcmp(name, "sub") == 0 && strstr(operands, ",%rsp") ? strtoull(operands + 1, NULL, 16) : 0;
    if (reading->step->executed > 0 && size > FRAME_WITHOUT_ARRAYS)
        reading->code->frame += size - FRAME_WITHOUT_ARRAYS;
}

static void count_instruction(struct reading *reading, const char *name, const char *operands, uint64_t next)
{
    code_line *const line = reading->line;
    double weight = code_weight(name, operands);
    const bool local = is_local_item(reading, name, operands);
    weight = local && weight < 1 ? 1 : weight;
    const bool spread = local && is_data(reading, operands);
    note_pointer(reading, name, operands);
    note_data(reading, name, operands);
    reading->latest = 0;
    if (!reading->step || !line || reading->own)
        return;
    weight = code_joins_take(&reading->joins, name, operands) ? 0 : weight;
    code_loops_take(&reading->loops, reading->traffic, reading->step, line, weight, name, operands, next);
    reading->latest = weight;
    note_frame(reading, name, operands);
    reading->taken += !reading->admits && reading->step->executed > 0;
    line->issued += weight * (double)reading->step->issued;
    line->executed += weight * (double)reading->step->executed;
    if (weight >= 10 && strstr(name, "div"))
        line->divisions += weight * (double)reading->step->issued;
    if (strlen(name) > 3 && strcmp(name + strlen(name) - 2, "sd") == 0 && strncmp(name, "mov", 3) != 0)
        line->doubles += weight * (double)reading->step->issued;
    if (is_single(name))
        line->singles += weight * (double)reading->step->issued;
    if (!local)
        return;
    line->local += (double)reading->step->issued;
    line->spread += spread ? (double)reading->step->issued : 0;
    code_loops_take_item(&reading->loops, &(code_item){next, line, (double)reading->step->issued, spread});
}

/* Takes the instruction before a call of a check back: it makes the call's argument. */
static void forget_argument(struct reading *reading)
{
    if (reading->step && reading->line && !reading->own) {
        reading->line->issued -= reading->latest * (double)reading->step->issued;
        reading->line->executed -= reading->latest * (double)reading->step->executed;
    }
    reading->latest = 0;
}

/* A call of a check. `next`: the address behind it. True when the instruction is one. */
static bool take_check(struct reading *reading, const char *operands, uint64_t next)
{
    if (strstr(operands, "<__sanitizer_cov_trace_pc")) {
        reading->step = find_step(reading->traffic, next);
        reading->data_count = 0;
        reading->joins.count = 0;
        reading->latest = 0;
        reading->awaits[0] = reading->awaits[1] = true;
        return true;
    }
    if (strstr(operands, "<gyre_wait_checked_") && reading->step) {
        if (reading->line)
            reading->line->barriers += reading->step->issued;
        return true;
    }
    if (strstr(operands, "<gyre_block_") && reading->step && reading->line) {
        reading->line->barriers +=
            2 * reading->step->issued; /* a sum of the block, say: before it and behind it */
        reading->line->functions += reading->step->issued;
        return true;
    }
    if (!strstr(operands, "<__tsan_") && !strstr(operands, "<gyre_touched_"))
        return false;
    forget_argument(reading);
    take_touches(reading, next);
    return true;
}

/* "    1bb7:\tlea    -0xf(%rbx),%eax". `next`: the address of the instruction behind it. */
static void take_instruction(struct reading *reading, char *text, uint64_t next)
{
    char *const tab = strchr(text, '\t');
    if (!tab)
        return;
    char *const name = tab + 1, *operands = name + strcspn(name, " \t");
    if (*operands)
        *operands++ = '\0';
    operands += strspn(operands, " \t");
    if ((strncmp(name, "call", 4) == 0 || strcmp(name, "bl") == 0) && take_check(reading, operands, next))
        return;
    count_instruction(reading, name, operands, next);
}

static bool is_instruction(const char *text, uint64_t *address)
{
    char *end;
    if (text[0] != ' ')
        return false;
    *address = strtoull(text, &end, 16);
    return end != text && *end == ':' && end[1] == '\t';
}

/* The address of the next instruction in the text; the end of a function has none, and then nothing was counted there. */
static uint64_t next_address(const char *text)
{
    uint64_t address = 0;
    while (text && !is_instruction(text, &address)) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return address;
}

static void take_text(struct reading *reading, char *text)
{
    uint64_t address;
    for (char *next; text && *text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        if (is_instruction(text, &address)) {
            take_instruction(reading, text, next_address(next));
        } else if (text[0] == '0' && strchr(text, '<')) { /* a function begins */
            code_loops_end(&reading->loops, reading->traffic);
            reading->step = NULL;
            reading->line = NULL;
            reading->begins = true;
            reading->admits = strstr(text, "<gyre_admit_") != NULL;
            reading->on_stack_count = 0;
        } else {
            take_place(reading, text);
        }
    }
    code_loops_end(&reading->loops, reading->traffic);
}

/* ---- lines of Gyre's ---- */

/*
 * Whether a message is declared on the line: then all of its code is made by the declaration, and checks the message. Compilers
 * put it into other functions, so their names do not tell. False where the file cannot be read.
 */
static bool declares_message(const code_line *line)
{
    static const char *const words[] = {"GYRE_MESSAGE", "GYRE_SPAN", "GYRE_OPTIONAL", "GYRE_PROTOCOL"};
    char text[256] = "";
    FILE *const file = fopen(line->path, "re");
    for (uint32_t number = 0; file && number < line->line && fgets(text, sizeof text, file);)
        number += strchr(text, '\n') != NULL;
    if (file)
        fclose(file);
    const char *const begin = text + strspn(text, " \t");
    bool declares = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        declares = declares || strncmp(begin, words[i], strlen(words[i])) == 0;
    return declares;
}

/* ---- sums ---- */

static void add_up(code_lines *code)
{
    code_line *const all = &code->all;
    for (size_t i = 0; i < code->count; i++) {
        code_line *const line = &code->lines[i];
        line->declares = declares_message(line);
        code->checks += line->declares ? line->issued : 0;
        all->issued += line->issued;
        all->executed += line->executed;
        all->divisions += line->divisions;
        all->doubles += line->doubles;
        all->singles += line->singles;
        all->local += line->local;
        all->spread += line->spread;
        all->barriers += line->barriers;
        all->functions += line->functions;
        all->turns += line->turns;
        all->waits += line->waits;
        all->scratch_waits += line->scratch_waits;
        all->touches += line->touches;
        all->sectors += line->sectors;
        all->fresh += line->fresh;
        all->needed += line->needed;
        all->scratch += line->scratch;
        all->conflicts += line->conflicts;
        all->atomics += line->atomics;
        all->span = line->span > all->span ? line->span : all->span;
    }
}

/* Makes the lines of what objdump printed. */
static int make_lines(code_lines *code, const traffic_file *traffic, char *output)
{
    static struct reading reading; /* too large for the stack */
    reading = (struct reading){.code = code, .traffic = traffic};
    const char *const headers = gyre_build_headers();
    if (!headers)
        return cli_fail(GYRE_UNAVAILABLE);
    const int length = snprintf(reading.dialect, sizeof reading.dialect, "%s/gyre/dialect/", headers);
    if (length < 0 || (size_t)length >= sizeof reading.dialect)
        return cli_error(CLI_FAILED, "the path of the kernel headers is too long: '%s'", headers);
    take_text(&reading, output);
    add_up(code);
    if (!traffic->step_count || reading.taken)
        return CLI_OK;
    return cli_error(
        CLI_FAILED,
        "kernel '%s' ran, but none of its instructions has a line of your files, so that there is nothing to "
        "estimate from: expected such lines from 'objdump -d -l %s'; a #line of the handler, a line end in the "
        "name of its folder, or a compiler_options that leaves out lines (-g0) takes them away",
        traffic->kernel, traffic->module);
}

/* Has objdump print the instructions of the kernel file. */
static int print_instructions(const traffic_file *traffic, char *output)
{
    const char *const arguments[] = {"objdump", "-d", "-l", "--no-show-raw-insn", traffic->module, NULL};
    struct gyre_process_end end;
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .deadline_ns = gyre_clock_ns() + DEADLINE_S * UINT64_C(1000000000),
                                           .output = output,
                                           .output_size = OUTPUT_SIZE};
    const gyre_status status = gyre_process_run(&desc, &end);
    if (status == GYRE_NOT_FOUND)
        return cli_error(CLI_UNAVAILABLE,
                         "there is no program 'objdump', which reads what a handler was compiled to: "
                         "install it (Debian, Ubuntu: apt install binutils)");
    if (status != GYRE_OK || end.signal || end.exit_code || end.output_length >= OUTPUT_SIZE)
        return cli_error(CLI_FAILED, "objdump cannot read the compiled handler '%s'", traffic->module);
    return CLI_OK;
}

int code_lines_make(code_lines *code, const traffic_file *traffic)
{
    *code = (code_lines){.lines = calloc(LINES_MAX, sizeof *code->lines)};
    char *const output = malloc(OUTPUT_SIZE);
    int result = code->lines && output ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    if (result == CLI_OK)
        result = print_instructions(traffic, output);
    if (result == CLI_OK)
        result = make_lines(code, traffic, output);
    free(output);
    return result;
}

void code_lines_finish(code_lines *code)
{
    free(code->lines);
    *code = (code_lines){.lines = NULL};
}
