#include <llhttp.h>
#include <stdlib.h>

#include "CPeers.h"

struct peers_llhttp {
    llhttp_t parser;
    llhttp_settings_t settings;
    struct peers_llhttp_counts counts;
    int has_bodies;
    int is_in_name;
};

// The parser is the reader's first member.
static peers_llhttp *reader_of(llhttp_t *parser) { return (peers_llhttp *)parser; }

static int name_span(llhttp_t *parser, const char *at, size_t length) {
    (void)at, (void)length;
    peers_llhttp *reader = reader_of(parser);
    // A name may come in several spans.
    reader->counts.fields += !reader->is_in_name;
    reader->is_in_name = 1;
    return 0;
}

static int value_span(llhttp_t *parser, const char *at, size_t length) {
    (void)at, (void)length;
    reader_of(parser)->is_in_name = 0;
    return 0;
}

static int body_span(llhttp_t *parser, const char *at, size_t length) {
    (void)at;
    reader_of(parser)->counts.body += length;
    return 0;
}

// 1 says that there is no body.
static int headers_complete(llhttp_t *parser) { return !reader_of(parser)->has_bodies; }

static int message_complete(llhttp_t *parser) {
    reader_of(parser)->counts.messages++;
    return 0;
}

peers_llhttp *peers_llhttp_new(int is_request, int has_bodies) {
    peers_llhttp *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    llhttp_settings_init(&reader->settings);
    reader->settings.on_header_field = name_span;
    reader->settings.on_header_value = value_span;
    reader->settings.on_headers_complete = headers_complete;
    reader->settings.on_body = body_span;
    reader->settings.on_message_complete = message_complete;
    llhttp_init(&reader->parser, is_request ? HTTP_REQUEST : HTTP_RESPONSE, &reader->settings);
    reader->has_bodies = has_bodies;
    return reader;
}

void peers_llhttp_free(peers_llhttp *reader) { free(reader); }

int peers_llhttp_read(peers_llhttp *reader, const char *bytes, size_t count) {
    return llhttp_execute(&reader->parser, bytes, count);
}

struct peers_llhttp_counts peers_llhttp_counts(const peers_llhttp *reader) { return reader->counts; }
