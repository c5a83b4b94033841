/* SPDX-License-Identifier: Apache-2.0 */
/* gyre encode: turns JSON lines into messages in their wire form. */
#include "cli/cli.h"
#include "cli/json/message_json.h"
#include "cli/wire/encode.h"
#include "cli/wire/frame.h"
#include "cli/wire/wire_session.h"

#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "usage: gyre encode [--type T] [--frame] [--binary] FILE <messages.jsonl\n"
    "\n"
    "Reads messages as `gyre call` does, a line of JSON each, and writes each in the wire form of MemoryPack: a\n"
    "line of hexadecimal digits. FILE, a kernel file or a header, declares the type; its GYRE_WIRE says what the\n"
    "other side chose (docs/messages.md).\n"
    "\n"
    "Options:\n"
    "  --type T     the message type; not needed when FILE has one message only\n"
    "  --frame      with the header of 256 bytes (magic 0xDCF1) in front\n"
    "  --sender N, --receiver N, --timestamp N  what the header says; 0 by default\n"
    "  --binary     the bytes themselves, one message behind the other\n"
    "\n"
    "Exit codes: 1 a message could not be read or encoded, 3 no compiler or no backend, 4 configuration.\n";

typedef struct encoding {
    wire_session session;
    bool frame, binary;
    uint64_t sender, receiver, timestamp;
} encoding;

static void print_bytes(const uint8_t *bytes, size_t length, bool binary)
{
    if (binary) {
        fwrite(bytes, 1, length, stdout);
        return;
    }
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

static gyre_status encode_line(encoding *run, const char *text, size_t length)
{
    wire_session *session = &run->session;
    size_t payload = 0, header = run->frame ? GYRE_FRAME_SIZE : 0;
    gyre_status status = message_json_read(session->layout, text, length, session->message);
    if (status == GYRE_OK)
        status = gyre_pack_encode(&session->pack, session->layout, session->message, session->bytes + header,
                                  GYRE_FRAME_PAYLOAD_MAX, &payload);
    if (status != GYRE_OK)
        return status;
    const gyre_frame frame = {payload, run->timestamp, (uint32_t)run->sender, (uint32_t)run->receiver};
    if (run->frame)
        gyre_frame_write(&frame, session->bytes);
    print_bytes(session->bytes, header + payload, run->binary);
    return GYRE_OK;
}

static int encode_all(encoding *run)
{
    char *line = NULL;
    size_t size = 0, number = 0;
    int code = CLI_OK;
    for (ssize_t length; (length = getline(&line, &size, stdin)) >= 0;) {
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (encode_line(run, line, (size_t)length) != GYRE_OK)
            code = cli_error(CLI_FAILED, "line %zu: %s", number, gyre_error_text());
    }
    free(line);
    return code;
}

static int run(cli_context *cli)
{
    encoding *run = calloc(1, sizeof *run);
    if (!run)
        return cli_error(CLI_FAILED, "out of memory");
    const cli_option options[] = {{"--type", .text = &run->session.type_name},
                                  {"--frame", .flag = &run->frame},
                                  {"--binary", .flag = &run->binary},
                                  {"--sender", .number = &run->sender, .max = UINT32_MAX},
                                  {"--receiver", .number = &run->receiver, .max = UINT32_MAX},
                                  {"--timestamp", .number = &run->timestamp, .max = UINT64_MAX},
                                  {0}};
    int code;
    if (wire_session_begin(cli, options, &run->session, &code))
        code = encode_all(run);
    wire_session_close(&run->session);
    free(run);
    return code;
}

const cli_command cli_command_encode = {"encode", "messages from JSON to their wire form", HELP, run};
