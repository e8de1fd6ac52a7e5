#include <llhttp.h>

#include "CPeers.h"

static int spans;

static int count_span(llhttp_t *parser, const char *at, size_t length) {
    (void)parser, (void)at, (void)length;
    spans++;
    return 0;
}

// The body is not wanted.
static int headers_complete(llhttp_t *parser) {
    (void)parser;
    return HPE_PAUSED;
}

int peers_llhttp_response(const char *buf, size_t len) {
    static llhttp_settings_t settings;
    static int ready;
    if (!ready) {
        llhttp_settings_init(&settings);
        settings.on_header_field = count_span;
        settings.on_header_value = count_span;
        settings.on_headers_complete = headers_complete;
        ready = 1;
    }
    llhttp_t parser;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    spans = 0;
    llhttp_errno_t error = llhttp_execute(&parser, buf, len);
    return error == HPE_OK || error == HPE_PAUSED ? spans / 2 : -1;
}
