// Reads the line with a chunk's size (RFC 9112 §7.1).
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
    // 0 if there is no such line.
    uint64_t size;
    // The length of the line, including its end.
    size_t length;
} lk_chunk_line;

// The value of a hexadecimal digit; 255 for other bytes.
static inline uint8_t lk_hex_digit(uint8_t byte) {
    const uint8_t digit = (uint8_t)(byte - '0'), letter = (uint8_t)((byte | 0x20) - 'a');
    if (digit < 10) return digit;
    return letter < 6 ? (uint8_t)(letter + 10) : 255;
}

// A complete line of up to eight digits and CRLF, for a chunk that is not the last one. If `is_after_data` is set, the
// end of the data before it (CRLF) must come first.
static inline __attribute__((always_inline)) lk_chunk_line
lk_read_chunk_line(const void *input, size_t count, int is_after_data) {
    const lk_chunk_line none = {0, 0};
    const uint8_t *bytes = (const uint8_t *)input;
    size_t index = 0;
    if (is_after_data) {
        if (count < 5 || bytes[0] != '\r' || bytes[1] != '\n') return none;
        index = 2;
    }
    const size_t most = index + 8;
    uint64_t size = 0;
    for (; index < count && index < most; index++) {
        const uint8_t digit = lk_hex_digit(bytes[index]);
        if (digit > 15) break;
        size = size << 4 | digit;
    }
    if (count - index < 2 || bytes[index] != '\r' || bytes[index + 1] != '\n') return none;
    const lk_chunk_line line = {size, index + 2};
    return line;
}
