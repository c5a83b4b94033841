/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of [pipeline.NAME], [link.NAME], [topic.NAME], [pool.NAME] and [observe]: a part of the table in table.c, which includes it in the
 * middle of the initialiser. Nobody else does.
 */
#ifndef GYRE_CORE_CONFIG_TABLE_PIPELINES_H
#define GYRE_CORE_CONFIG_TABLE_PIPELINES_H
/* clang-format off */
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_NAMES,
     .key = "entry",
     .preset = "",
     .doc =
         "The kernels that clients send requests to. The first one is the entry of `gyre call --pipeline`."},
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_NAMES,
     .key = "answer",
     .preset = "",
     .doc = "The kernels that may answer: their reply completes the request. Empty: requests are completed "
            "without a reply."},
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_BOOL,
     .key = "links_tight",
     .preset = "false",
     .doc = "Gives every link the least capacity that it can have, to find out what depends on room."},
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_INT,
     .key = "window",
     .min = 0,
     .max = 1 << 24,
     .preset = "0",
     .doc = "How many requests may be under way at once, before further ones wait in their queues. 0: as many as the "
            "queues hold, and as the links of cycles have room for, which `gyre pipeline` tells."},
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_INT,
     .key = "quota",
     .min = 0,
     .max = 1 << 24,
     .preset = "0",
     .doc = "How many messages of one request may be alive at once: one that exceeds it fails (-16). Needed where links "
            "form a cycle, as those of kernels that ask each other do. 0: any number."},
    {.kind = GYRE_SECTION_PIPELINE,
     .type = GYRE_VALUE_NAME,
     .key = "rounds",
     .preset = "",
     .doc = "The kernel that is called for a request when all messages of a round were handled and no kernel replied: what it "
            "emits is the next round. Empty: the request ends there."},

    {.kind = GYRE_SECTION_LINK,
     .type = GYRE_VALUE_NAME,
     .key = "from",
     .preset = "",
     .doc = "The port that the link begins at: `KERNEL.PORT`. A port has one link."},
    {.kind = GYRE_SECTION_LINK,
     .type = GYRE_VALUE_NAME,
     .key = "to",
     .preset = "",
     .doc = "The kernel whose handler gets the messages; `host`: programs that subscribe to NAME get them; `nowhere`: they are "
            "counted and thrown away."},
    {.kind = GYRE_SECTION_LINK,
     .type = GYRE_VALUE_POWER,
     .key = "capacity",
     .min = 0,
     .max = 1 << 24,
     .preset = "0",
     .doc = "How many messages each block of the sending kernel may have under way on the link. "
            "0: Gyre chooses, and `gyre links` tells."},
    {.kind = GYRE_SECTION_LINK,
     .type = GYRE_VALUE_CHOICE,
     .key = "share",
     .choices = {"any", "key"},
     .preset = "any",
     .doc = "Which block of a kernel of several gets a message. `any`: one that has time. `key`: the same one for all messages "
            "with the same `key`, so that these keep their order. Keyed actors share by their key in any case."},
    {.kind = GYRE_SECTION_LINK,
     .type = GYRE_VALUE_NAME,
     .key = "key",
     .preset = "",
     .doc = "With `share = key`: the field of the message, such as `account` or `order.account`; integers or an id128. Empty: the "
            "key of the keyed actor that the link leads to."},

    {.kind = GYRE_SECTION_TOPIC,
     .type = GYRE_VALUE_NAMES,
     .key = "from",
     .preset = "",
     .doc =
         "The ports whose messages the topic has: `KERNEL.PORT, ...`. A port leads to one topic, or has one link."},
    {.kind = GYRE_SECTION_TOPIC,
     .type = GYRE_VALUE_NAMES,
     .key = "to",
     .preset = "",
     .doc = "The kernels that get every message. A flow is settled when they are done with what it caused."},
    {.kind = GYRE_SECTION_TOPIC,
     .type = GYRE_VALUE_NAMES,
     .key = "taps",
     .preset = "",
     .doc =
         "Kernels that get what they have room for, and hold nobody up: flows do not wait for them. What they missed is "
         "counted."},
    {.kind = GYRE_SECTION_TOPIC,
     .type = GYRE_VALUE_NAMES,
     .key = "slow",
     .preset = "wait",
     .doc =
         "What happens to the kernels of `to` while they have no room: the sender may `wait`; they miss the message (`drop`); or "
         "they miss it and all later ones (`cut`). One word for all, or one for each."},
    {.kind = GYRE_SECTION_TOPIC,
     .type = GYRE_VALUE_POWER,
     .key = "capacity",
     .min = 0,
     .max = 1 << 24,
     .preset = "0",
     .doc = "As that of a link, for each subscriber."},

    {.kind = GYRE_SECTION_POOL,
     .type = GYRE_VALUE_NAMES,
     .key = "from",
     .preset = "",
     .doc = "The ports whose messages are the work: `KERNEL.PORT, ...`. A member's own ports may be among them."},
    {.kind = GYRE_SECTION_POOL,
     .type = GYRE_VALUE_NAMES,
     .key = "members",
     .preset = "",
     .doc = "The kernels that take from the pool: a message goes to one block of one of them, whichever has time."},
    {.kind = GYRE_SECTION_POOL,
     .type = GYRE_VALUE_CHOICE,
     .key = "order",
     .choices = {"newest", "oldest"},
     .preset = "newest",
     .doc = "Which of the messages that it emitted itself a block of a member takes first. `newest` searches trees in depth, so "
            "that few of their messages are alive at once. What others emitted is taken oldest first in any case."},
    {.kind = GYRE_SECTION_POOL,
     .type = GYRE_VALUE_POWER,
     .key = "capacity",
     .min = 0,
     .max = 1 << 24,
     .preset = "0",
     .doc = "As that of a link, for each block of each port."},

    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_BOOL,
     .key = "enabled",
     .preset = "true",
     .doc = "Whether a process that launches kernels writes an observation file, which `gyre stat` reads."},
    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_PATH,
     .key = "folder",
     .preset = "",
     .doc = "The folder of observation files, for their writers and their readers. Empty: `gyre` in "
            "`$XDG_RUNTIME_DIR`, else `/dev/shm/gyre-UID`."},
    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_CHOICE,
     .key = "access",
     .choices = {"owner", "group", "everyone"},
     .preset = "owner",
     .doc = "Who may read the file: its mode 0600, 0640 or 0644."},
    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_MS,
     .key = "every_ms",
     .min = 10,
     .max = 60000,
     .preset = "1000",
     .doc =
         "How often the counts of kernels and queues are copied into the file, and thus how old what readers see "
         "may be."},
    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_INT,
     .key = "keep",
     .min = 0,
     .max = 256,
     .preset = "8",
     .doc =
         "How many files of processes that were killed stay in the folder, to be read afterwards. A process that "
         "starts removes older ones."},
    {.kind = GYRE_SECTION_OBSERVE,
     .type = GYRE_VALUE_CHOICE,
     .key = "trace",
     .choices = {"asked", "always", "never"},
     .preset = "asked",
     .doc =
         "When the process notes what happens to each message: while `gyre trace` asks; always, so that the last "
         "messages can be seen when the process has died; or never."},
/* clang-format on */
#endif
