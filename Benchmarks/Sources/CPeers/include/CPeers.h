// What LoadingKit is measured against: picohttpparser, as libh2o exports it without a header; llhttp; nghttp2's HPACK;
// and zlib.
#ifndef LOADINGKIT_BENCHMARKS_PEERS_H
#define LOADINGKIT_BENCHMARKS_PEERS_H

#include <nghttp2/nghttp2.h>
#include <stddef.h>
#include <sys/types.h>
#include <zlib.h>

struct phr_header {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
};

struct phr_chunked_decoder {
    size_t bytes_left_in_chunk;
    char consume_trailer;
    char _hex_count;
    char _state;
    size_t reserved[4];
};

int phr_parse_response(const char *buf, size_t len, int *minor_version, int *status, const char **msg, size_t *msg_len,
                       struct phr_header *headers, size_t *num_headers, size_t last_len);
int phr_parse_request(const char *buf, size_t len, const char **method, size_t *method_len, const char **path,
                      size_t *path_len, int *minor_version, struct phr_header *headers, size_t *num_headers,
                      size_t last_len);
ssize_t phr_decode_chunked(struct phr_chunked_decoder *decoder, char *buf, size_t *bufsz);

// One side of a connection that llhttp reads. llhttp's own header is on no path that Swift looks at.
typedef struct peers_llhttp peers_llhttp;

// What was read since the reader was made.
struct peers_llhttp_counts {
    size_t messages;
    size_t fields;
    size_t body;
};

// Makes a reader of requests or of responses, and of heads alone where the messages have no body whatever they say (as
// the answers to HEAD). NULL without memory.
peers_llhttp *peers_llhttp_new(int is_request, int has_bodies);
void peers_llhttp_free(peers_llhttp *reader);

// Reads a piece of any size; gives 0, or llhttp's error.
int peers_llhttp_read(peers_llhttp *reader, const char *bytes, size_t count);
struct peers_llhttp_counts peers_llhttp_counts(const peers_llhttp *reader);

#endif
