#include <llhttp.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "CPeers.h"

static void append(struct peer_bytes *output, const void *bytes, size_t count) {
    if (count == 0) return;
    uint8_t *larger = realloc(output->bytes, output->count + count);
    if (!larger) abort();
    memcpy(larger + output->count, bytes, count);
    output->bytes = larger;
    output->count += count;
}

int peer_inflate(const uint8_t *input, size_t count, int window_bits, size_t most, struct peer_bytes *output, size_t *used) {
    z_stream stream = {0};
    if (inflateInit2(&stream, window_bits) != Z_OK) abort();
    stream.next_in = (uint8_t *)input;
    stream.avail_in = (uInt)count;
    uint8_t room[4096];
    int result;
    do {
        stream.next_out = room;
        stream.avail_out = sizeof room;
        result = inflate(&stream, Z_NO_FLUSH);
        append(output, room, sizeof room - stream.avail_out);
    } while (result == Z_OK && output->count < most && (stream.avail_in > 0 || stream.avail_out == 0));
    *used = count - stream.avail_in;
    inflateEnd(&stream);
    return result;
}

nghttp2_hd_inflater *peer_hpack_new(void) {
    nghttp2_hd_inflater *decoder = NULL;
    return nghttp2_hd_inflate_new(&decoder) == 0 ? decoder : NULL;
}

void peer_hpack_free(nghttp2_hd_inflater *decoder) { nghttp2_hd_inflate_del(decoder); }

int peer_hpack_decode(nghttp2_hd_inflater *decoder, const uint8_t *block, size_t count, struct peer_bytes *output) {
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(decoder, &field, &flags, block, count, 1);
        if (used < 0) return (int)used;
        block += used;
        count -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            uint8_t length[4] = {field.valuelen >> 24, field.valuelen >> 16, field.valuelen >> 8, field.valuelen};
            uint8_t namelen[4] = {field.namelen >> 24, field.namelen >> 16, field.namelen >> 8, field.namelen};
            append(output, namelen, 4);
            append(output, field.name, field.namelen);
            append(output, length, 4);
            append(output, field.value, field.valuelen);
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            nghttp2_hd_inflate_end_headers(decoder);
            return 0;
        }
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && count == 0) return 0;
    }
}

struct reader {
    // The first member: llhttp gives callbacks its address.
    llhttp_t parser;
    struct peer_message *message;
    int is_in_value;
};

static struct reader *reader_of(llhttp_t *parser) { return (struct reader *)parser; }

static int read_target(llhttp_t *parser, const char *at, size_t length) {
    append(&reader_of(parser)->message->target, at, length);
    return 0;
}

// Fields behind a body are trailers, which are not compared.
static int read_name(llhttp_t *parser, const char *at, size_t length) {
    struct reader *reader = reader_of(parser);
    if (reader->message->has_head) return 0;
    if (reader->is_in_value) append(&reader->message->fields, "\n", 1);
    reader->is_in_value = 0;
    append(&reader->message->fields, at, length);
    return 0;
}

static int end_name(llhttp_t *parser) {
    struct reader *reader = reader_of(parser);
    if (reader->message->has_head) return 0;
    append(&reader->message->fields, "\n", 1);
    reader->is_in_value = 1;
    return 0;
}

static int read_value(llhttp_t *parser, const char *at, size_t length) {
    struct reader *reader = reader_of(parser);
    if (!reader->message->has_head) append(&reader->message->fields, at, length);
    return 0;
}

static int end_head(llhttp_t *parser) {
    struct reader *reader = reader_of(parser);
    if (reader->is_in_value) append(&reader->message->fields, "\n", 1);
    reader->message->has_head = 1;
    reader->message->status = llhttp_get_status_code(parser);
    reader->message->minor_version = llhttp_get_http_minor(parser);
    return 0;
}

static int read_body(llhttp_t *parser, const char *at, size_t length) {
    append(&reader_of(parser)->message->body, at, length);
    return 0;
}

static int end_message(llhttp_t *parser) {
    reader_of(parser)->message->is_complete = 1;
    return HPE_PAUSED;
}

void peer_llhttp(const uint8_t *input, size_t count, int is_request, struct peer_message *message) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_url = read_target;
    settings.on_header_field = read_name;
    settings.on_header_field_complete = end_name;
    settings.on_header_value = read_value;
    settings.on_headers_complete = end_head;
    settings.on_body = read_body;
    settings.on_message_complete = end_message;
    struct reader reader = {.message = message};
    llhttp_init(&reader.parser, is_request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    message->error = llhttp_execute(&reader.parser, (const char *)input, count);
    if (message->error == HPE_OK) message->error = llhttp_finish(&reader.parser);
}
