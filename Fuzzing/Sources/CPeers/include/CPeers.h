// Others' codecs, which targets compare with LoadingKit's: zlib, nghttp2's HPACK, and llhttp.
#ifndef LOADINGKIT_FUZZING_PEERS_H
#define LOADINGKIT_FUZZING_PEERS_H

#include <stddef.h>
#include <stdint.h>

// Bytes that a function below gives. The caller frees them.
struct peer_bytes {
    uint8_t *bytes;
    size_t count;
};

// Inflates the first stream of the input; as zlib's inflateInit2 interprets `window_bits`. Gives zlib's result:
// 1 (Z_STREAM_END) at the stream's end, 0 or -5 (Z_BUF_ERROR) if the input ends before it, else an error. `used` is the length of the stream.
int peer_inflate(const uint8_t *input, size_t count, int window_bits, size_t most, struct peer_bytes *output, size_t *used);

// nghttp2's decoder of header blocks. NULL without memory.
struct nghttp2_hd_inflater *peer_hpack_new(void);
void peer_hpack_free(struct nghttp2_hd_inflater *decoder);

// Decodes a block to names and values in turn, each behind its length in 4 bytes, big-endian. Gives 0, or an error.
int peer_hpack_decode(struct nghttp2_hd_inflater *decoder, const uint8_t *block, size_t count, struct peer_bytes *output);

// The first message that llhttp reads.
struct peer_message {
    // 0, or llhttp's error; meaningless after the message's end.
    int error;
    int has_head;
    int is_complete;
    int status;
    int minor_version;
    // Names and values, each followed by LF.
    struct peer_bytes fields;
    struct peer_bytes target;
    struct peer_bytes body;
};

void peer_llhttp(const uint8_t *input, size_t count, int is_request, struct peer_message *message);

#endif
