/* SPDX-License-Identifier: Apache-2.0 */
/* gyre decode: turns messages in their wire form into JSON lines. */
#include "cli/cli.h"
#include "cli/json/message_json.h"
#include "cli/wire/decode.h"
#include "cli/wire/frame.h"
#include "cli/wire/wire_session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

static const char HELP[] =
    "usage: gyre decode [--type T] [--frame] [--binary] FILE <messages\n"
    "\n"
    "Reads messages in the wire form of MemoryPack, a line of hexadecimal digits each (blanks between bytes are\n"
    "fine), and writes each as a line of JSON, as `gyre call` reads it. FILE, a kernel file or a header, declares\n"
    "the type; its GYRE_WIRE says what the other side chose (docs/messages.md). What is malformed is told with\n"
    "its offset and the reason, and the next line is read.\n"
    "\n"
    "Options:\n"
    "  --type T     the message type; not needed when FILE has one message only\n"
    "  --frame      each message has the header of 256 bytes (magic 0xDCF1) in front\n"
    "  --binary     the input is one message as bytes; with --frame, any number of them\n"
    "\n"
    "Exit codes: 1 a message is malformed, 3 no compiler or no backend, 4 configuration.\n";

typedef struct decoding {
    wire_session session;
    bool frame, binary;
} decoding;

static gyre_status decode_one(decoding *run, const uint8_t *bytes, size_t length)
{
    wire_session *session = &run->session;
    gyre_frame frame;
    size_t header = run->frame ? GYRE_FRAME_SIZE : 0;
    gyre_status status = run->frame ? gyre_frame_read(bytes, length, &frame) : GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_pack_decode(&session->pack, session->layout, bytes + header, length - header,
                                  session->message);
    if (status != GYRE_OK)
        return status;
    message_json_write(session->layout, session->message, stdout);
    putchar('\n');
    return GYRE_OK;
}

/* ---- hexadecimal lines ---- */

static int digit_of(char character)
{
    const char *digits = "0123456789abcdef", *found = strchr(digits, tolower((unsigned char)character));
    return character && found ? (int)(found - digits) : -1;
}

static gyre_status read_hex(decoding *run, const char *line, size_t *length)
{
    size_t digits = 0;
    for (const char *at = line; *at; at++) {
        if (isspace((unsigned char)*at))
            continue;
        int digit = digit_of(*at);
        if (digit < 0)
            return gyre_error_set(GYRE_INVALID, "column %zu: expected hexadecimal digits, found '%c'",
                                  (size_t)(at - line) + 1, *at);
        if (digits / 2 >= sizeof run->session.bytes)
            return gyre_error_set(GYRE_INVALID, "a message of more than %zu bytes",
                                  sizeof run->session.bytes);
        uint8_t *byte = &run->session.bytes[digits / 2];
        *byte = (uint8_t)(digits % 2 ? *byte << 4 | digit : digit);
        digits++;
    }
    *length = digits / 2;
    return digits % 2 ? gyre_error_set(GYRE_INVALID,
                                       "expected two hexadecimal digits for each byte, found %zu", digits)
                      : GYRE_OK;
}

static int decode_lines(decoding *run)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    int code = CLI_OK;
    while (getline(&line, &size, stdin) >= 0) {
        size_t length = 0;
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        gyre_status status = read_hex(run, line, &length);
        if (status == GYRE_OK)
            status = decode_one(run, run->session.bytes, length);
        if (status != GYRE_OK)
            code = cli_error(CLI_FAILED, "line %zu: %s", number, gyre_error_text());
    }
    free(line);
    return code;
}

/* ---- bytes ---- */

/* Reads one frame from the stream: its header, then the bytes that the header counts. *length is 0 at the end of the stream. */
static gyre_status read_frame(decoding *run, size_t *length)
{
    uint8_t *bytes = run->session.bytes;
    uint64_t payload = 0;
    *length = fread(bytes, 1, GYRE_FRAME_SIZE, stdin);
    for (size_t i = 0; i < 8 && *length == GYRE_FRAME_SIZE; i++)
        payload |= (uint64_t)bytes[4 + i] << 8 * i;
    if (*length == GYRE_FRAME_SIZE && payload <= GYRE_FRAME_PAYLOAD_MAX)
        *length += fread(bytes + GYRE_FRAME_SIZE, 1, payload, stdin);
    return ferror(stdin) ? gyre_error_set(GYRE_FAILED, "cannot read standard input") : GYRE_OK;
}

/* Decodes all frames. A wrong frame ends the stream, because the start of the next frame is not known. */
static int decode_frames(decoding *run)
{
    size_t length = 0;
    for (size_t number = 1;; number++) {
        gyre_status status = read_frame(run, &length);
        if (status == GYRE_OK && length == 0)
            return CLI_OK;
        if (status == GYRE_OK)
            status = decode_one(run, run->session.bytes, length);
        if (status != GYRE_OK)
            return cli_error(CLI_FAILED, "message %zu: %s", number, gyre_error_text());
    }
}

static int decode_bytes(decoding *run)
{
    if (run->frame)
        return decode_frames(run);
    size_t length = fread(run->session.bytes, 1, sizeof run->session.bytes, stdin);
    if (ferror(stdin) || !feof(stdin))
        return cli_error(CLI_FAILED, "cannot read a message of at most %zu bytes from standard input",
                         sizeof run->session.bytes);
    return cli_fail_unless_ok(decode_one(run, run->session.bytes, length));
}

static int run(cli_context *cli)
{
    decoding *run = calloc(1, sizeof *run);
    if (!run)
        return cli_error(CLI_FAILED, "out of memory");
    const cli_option options[] = {{"--type", .text = &run->session.type_name},
                                  {"--frame", .flag = &run->frame},
                                  {"--binary", .flag = &run->binary},
                                  {0}};
    int code;
    if (wire_session_begin(cli, options, &run->session, &code))
        code = run->binary ? decode_bytes(run) : decode_lines(run);
    wire_session_close(&run->session);
    free(run);
    return code;
}

const cli_command cli_command_decode = {"decode", "messages from their wire form to JSON", HELP, run};
