/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests of HTTP/1.0 and 1.1 as far as `gyre web` needs them: GET and HEAD without a body. No state, nothing allocated. */
#ifndef GYRE_CLI_WEB_REQUEST_H
#define GYRE_CLI_WEB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WEB_REQUEST_MAX = 8192, /* bytes of a request with all its headers */
    WEB_PATH_MAX = 256,
    WEB_HOST_MAX = 256
};

/** The statuses of HTTP that are answered here. */
typedef enum web_status {
    WEB_OK = 200,
    WEB_BAD_REQUEST = 400,
    WEB_FORBIDDEN = 403,
    WEB_NOT_FOUND = 404,
    WEB_NOT_ALLOWED = 405,
    WEB_URI_TOO_LONG = 414,
    WEB_MISDIRECTED = 421, /* the request is for another host */
    WEB_HEADERS_TOO_LARGE = 431,
    WEB_NO_MEMORY = 500,
    WEB_UNAVAILABLE = 503,
    WEB_VERSION = 505
} web_status;

typedef struct web_request {
    bool head_only;           /* HEAD: the answer has no body */
    char path[WEB_PATH_MAX];  /* begins with '/', without what is behind '?' */
    char query[WEB_PATH_MAX]; /* as it came; "": none */
    char host[WEB_HOST_MAX];  /* of the header, without its port, in small letters; "": there is none */
    bool
        is_cross_site; /* a browser says that a page of another site made it send this (Sec-Fetch-Site, Origin) */
} web_request;

/**
 * Reads a request from the first bytes of a connection. Returns 0 when more bytes are needed; WEB_OK, and *out is whole; else what
 * is wrong with it, and *complaint is a sentence for whoever sent it. Bytes behind the request do not count.
 */
web_status web_request_read(const char *bytes, size_t size, web_request *out, const char **complaint);
/**
 * Finds a parameter of a query, with %XX decoded, and copies its value. False when it is not there, or its value is no text or
 * has no room.
 */
bool web_request_parameter(const web_request *request, const char *name, char *value, size_t size);

#endif
