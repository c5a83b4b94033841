/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a connection: options from [cluster], the two streams. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "nats_transport.h"

static const char *value_of(const gyre_transport_desc *desc, const char *key)
{
    for (size_t i = 0; i < desc->parameter_count; i++)
        if (strcmp(desc->parameters[i].key, key) == 0)
            return desc->parameters[i].value;
    return "";
}

void nats_close(gyre_transport_link *link)
{
    if (!link)
        return;
    natsConnection_Close(link->connection); /* ends the thread that may be at a message of a subscription */
    nats_followers_close(link);
    nats_ears_close(link);
    jsCtx_Destroy(link->jetstream);
    natsConnection_Destroy(link->connection);
    natsOptions_Destroy(link->options);
    pthread_mutex_destroy(&link->mutex);
    free(link->url);
    free(link->shown);
    free(link);
}

/* Errors are told by the calls that they disturb; the library would print them. */
static void hear_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
                       void *closure)
{
    (void)connection;
    (void)subscription;
    (void)status;
    (void)closure;
}

/* The servers as sentences name them: without what stands before an '@', a user with a password or a token. */
static char *show_url(const char *url)
{
    static const char hidden[] = "***";
    char *shown = malloc(strlen(url) * sizeof hidden + 1), *end = shown;
    while (shown && *url) {
        const size_t length = strcspn(url, ", \t");
        const char *scheme = memmem(url, length, "://", 3), *at = memrchr(url, '@', length);
        const char *name = scheme ? scheme + 3 : url, *server = at && at >= name ? at : name;
        end += sprintf(end, "%.*s%s%.*s", (int)(name - url), url, server > name ? hidden : "",
                       (int)(url + length - server), server);
        for (url += length; *url && strchr(", \t", *url); url++)
            *end++ = *url;
    }
    if (shown)
        *end = '\0';
    return shown;
}

/* ---- who connects ---- */

static gyre_status read_password(const gyre_transport_desc *desc, char password[256])
{
    const char *path = value_of(desc, "password_file");
    password[0] = '\0';
    if (!path[0])
        return GYRE_OK;
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(password, 256, file);
    if (file)
        fclose(file);
    password[strcspn(password, "\r\n")] = '\0';
    return read ? GYRE_OK
                : desc->host->error(GYRE_CONFIG, "[cluster] `password_file`: cannot read a line from '%s'",
                                    path);
}

static natsStatus set_user(gyre_transport_link *link, const gyre_transport_desc *desc, const char *password)
{
    const char *user = value_of(desc, "user"), *credentials = value_of(desc, "credentials");
    natsStatus status = NATS_OK;
    if (user[0])
        status = natsOptions_SetUserInfo(link->options, user, password);
    if (status == NATS_OK && credentials[0])
        status = natsOptions_SetUserCredentialsFromFiles(link->options, credentials, NULL);
    return status;
}

/* Gives the library the servers in `text`, which is cut in place. */
static natsStatus split_servers(gyre_transport_link *link, char *text, const char **servers)
{
    int count = 0;
    char *rest = NULL;
    for (char *server = strtok_r(text, ", \t", &rest); server; server = strtok_r(NULL, ", \t", &rest))
        servers[count++] = server;
    return count ? natsOptions_SetServers(link->options, servers, count) : NATS_INVALID_ARG;
}

static natsStatus set_servers(gyre_transport_link *link)
{
    char *text = strdup(link->url);
    const char **servers = calloc(strlen(link->url) / 2 + 1, sizeof *servers); /* a letter and a comma each */
    const natsStatus status = text && servers ? split_servers(link, text, servers) : NATS_NO_MEMORY;
    free(servers);
    free(text);
    return status;
}

static natsStatus set_options(gyre_transport_link *link, const gyre_transport_desc *desc,
                              const char *password)
{
    enum { RECONNECT_MS = 100 };
    natsStatus status = natsOptions_Create(&link->options);
    if (status == NATS_OK)
        status = set_servers(link);
    if (status == NATS_OK)
        status = natsOptions_SetTimeout(link->options, link->reach_ms);
    if (status == NATS_OK)
        status = natsOptions_SetMaxReconnect(link->options, -1);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectWait(link->options, RECONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetErrorHandler(link->options, hear_error, NULL);
    if (status == NATS_OK) /* the library would wait for more to send together, a millisecond long */
        status = natsOptions_SetSendAsap(link->options, true);
    return status == NATS_OK ? set_user(link, desc, password) : status;
}

static gyre_status connect(gyre_transport_link *link, const gyre_transport_desc *desc)
{
    char password[256];
    gyre_status status = read_password(desc, password);
    if (status != GYRE_OK)
        return status;
    natsStatus done = set_options(link, desc, password);
    if (done == NATS_OK)
        done = natsConnection_Connect(&link->connection, link->options);
    if (done == NATS_INVALID_ARG)
        return desc->host->error(
            GYRE_CONFIG,
            "[cluster] `url`: expected the address of a NATS server, or several, separated "
            "by commas, found '%s'",
            link->shown);
    if (done == NATS_CONNECTION_AUTH_FAILED)
        return desc->host->error(
            GYRE_CONFIG,
            "the NATS server at '%s' does not let this user in: look at `user`, `password_file` and "
            "`credentials` in [cluster]",
            link->shown);
    if (done == NATS_NO_SERVER || done == NATS_TIMEOUT)
        return desc->host->error(
            GYRE_UNAVAILABLE,
            "no NATS server answers at '%s': start it with JetStream (nats-server -js), or set `url` in "
            "[cluster]",
            link->shown);
    return done == NATS_OK ? GYRE_OK : nats_failed(link, done, 0, GYRE_UNAVAILABLE, "connect as", link->app);
}

/* ---- streams ---- */

/*
 * Takes the subject at which the stream's leader publishes once more, if the stream has one as this transport makes it. Whoever made the stream chose it, and only
 * the stream's settings tell it, so nobody publishes to it by mistake.
 */
static void take_again(gyre_transport_link *link, const jsRePublish *given)
{
    char logs[NATS_SUBJECT_SIZE], begin[NATS_SUBJECT_SIZE];
    const size_t length = given && given->Destination ? strlen(given->Destination) : 0;
    nats_subject(link, logs, "log", ">");
    nats_subject(link, begin, "new", "");
    link->again[0] = '\0';
    if (length < 2 || length >= sizeof link->again || given->HeadersOnly || !given->Source ||
        strcmp(given->Source, logs) != 0 || strncmp(given->Destination, begin, strlen(begin)) != 0 ||
        strcspn(given->Destination, "*>") != length - 1 || given->Destination[length - 2] != '.')
        return;
    memcpy(link->again, given->Destination, length - 1);
    link->again[length - 1] = '\0';
}

static natsStatus find_stream(gyre_transport_link *link, const char *name, jsErrCode *error)
{
    jsStreamInfo *info = NULL;
    const natsStatus status = js_GetStreamInfo(&info, link->jetstream, name, NULL, error);
    if (status == NATS_OK && name == link->logs)
        take_again(link, info->Config ? info->Config->RePublish : NULL);
    jsStreamInfo_Destroy(info);
    return status;
}

/* The stream's leader publishes each block of a log once more. Without random bytes there is no such subject, and members make consumers. */
static void set_again(const gyre_transport_link *link, jsRePublish *again, char source[NATS_SUBJECT_SIZE],
                      char destination[NATS_SUBJECT_SIZE])
{
    uint64_t random[2];
    char name[64];
    jsRePublish_Init(again);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 ".>", random[0], random[1]);
    again->Source = nats_subject(link, source, "log", ">");
    again->Destination = nats_subject(link, destination, "new", name);
}

static gyre_status make_stream(gyre_transport_link *link, const gyre_transport_desc *desc, const char *name,
                               const char *kind, int64_t for_each)
{
    jsErrCode error = 0;
    jsStreamConfig config;
    char subject[NATS_SUBJECT_SIZE], source[NATS_SUBJECT_SIZE], destination[NATS_SUBJECT_SIZE];
    jsRePublish again = {0};
    const char *subjects[] = {nats_subject(link, subject, kind, ">")};
    if (find_stream(link, name, &error) == NATS_OK)
        return GYRE_OK;
    if (error == JSNotEnabledErr || error == JSNotEnabledForAccountErr)
        return desc->host->error(
            GYRE_UNAVAILABLE,
            "the NATS server at '%s' runs without JetStream: start it with `nats-server -js`", link->shown);
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Retention = js_LimitsPolicy;
    config.Replicas = strtol(value_of(desc, "replicas"), NULL, 10);
    config.MaxMsgsPerSubject = for_each;
    config.AllowDirect = true;
    if (name == link->logs)
        set_again(link, &again, source, destination);
    if (again.Destination)
        config.RePublish = &again;
    natsStatus status = js_AddStream(NULL, link->jetstream, &config, NULL, &error);
    const natsStatus found = find_stream(link, name, &error); /* another member may have been first */
    status = status == NATS_OK ? NATS_OK : found;
    return status == NATS_OK ? GYRE_OK
                             : nats_failed(link, status, error, GYRE_UNAVAILABLE, "make the stream", name);
}

static gyre_status open_streams(gyre_transport_link *link, const gyre_transport_desc *desc)
{
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = link->reach_ms;
    const natsStatus status = natsConnection_JetStream(&link->jetstream, link->connection, &options);
    if (status != NATS_OK)
        return nats_failed(link, status, 0, GYRE_UNAVAILABLE, "use JetStream for", link->app);
    gyre_status made = make_stream(link, desc, link->logs, "log", -1);
    return made == GYRE_OK ? make_stream(link, desc, link->records, "record", 1) : made;
}

gyre_status nats_open(const gyre_transport_desc *desc, gyre_transport_link **out)
{
    const char *url = value_of(desc, "url");
    *out = NULL;
    gyre_transport_link *link = calloc(1, sizeof *link);
    if (!link)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a transport");
    link->host = desc->host;
    link->reach_ms = strtol(value_of(desc, "reach_ms"), NULL, 10);
    pthread_mutex_init(&link->mutex, NULL);
    link->url = strdup(url[0] ? url : "nats://127.0.0.1:4222");
    link->shown = link->url ? show_url(link->url) : NULL;
    snprintf(link->app, sizeof link->app, "%s", desc->app);
    snprintf(link->logs, sizeof link->logs, "GYRE_%s", desc->app);
    snprintf(link->records, sizeof link->records, "GYRE_%s_records", desc->app);
    gyre_status status =
        link->shown ? connect(link, desc) : desc->host->error(GYRE_EXHAUSTED, "no memory for a transport");
    if (status == GYRE_OK)
        status = open_streams(link, desc);
    if (status != GYRE_OK) {
        nats_close(link);
        return status;
    }
    *out = link;
    return GYRE_OK;
}
