// Scans HTTP's tokens and field values.
#pragma once
#include "vectors.h"

// RFC 9110 §5.6.2: tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~"
// / DIGIT / ALPHA. Bit n of word w stands for byte 32 * w + n.
static inline int lk_is_token_byte(uint8_t byte) {
    static const uint32_t tchars[8] = {0, 0x03FF6CFA, 0xC7FFFFFE, 0x57FFFFFF, 0, 0, 0, 0};
    return (tchars[byte >> 5] >> (byte & 31)) & 1;
}

// RFC 9110 §5.5: visible characters, obs-text, space and tab.
static inline int lk_is_value_byte(uint8_t byte) { return (byte >= 0x20 && byte != 0x7F) || byte == 0x09; }

#if defined(LK_VECTORS)
// The bytes that a field value must not contain.
static inline lk_vector lk_controls(lk_vector bytes) {
    return lk_or(lk_minus(lk_at_most(bytes, 0x1F), lk_equal(bytes, '\t')), lk_equal(bytes, 0x7F));
}

// Letters, digits and hyphens. Nearly all names consist of them.
static inline lk_vector lk_usual_in_names(lk_vector bytes) {
    const lk_vector letter = lk_at_most(lk_less(lk_or(bytes, lk_all(0x20)), 'a'), 25);
    const lk_vector digit = lk_at_most(lk_less(bytes, '0'), 9);
    return lk_or(lk_or(letter, digit), lk_equal(bytes, '-'));
}
#endif

// The index of the first byte that a field value must not contain; count if there is none.
static inline size_t lk_value_end(const uint8_t *bytes, size_t count) {
    size_t index = 0;
#if defined(LK_VECTORS)
    for (; count - index >= 16; index += 16) {
        const lk_bits controls = lk_bits_of(lk_controls(lk_load(bytes + index)));
        if (controls != 0) return index + lk_first(controls);
    }
#endif
    while (index < count && lk_is_value_byte(bytes[index])) index++;
    return index;
}

// The index of the first byte that is not a token byte; count if there is none.
static inline size_t lk_token_end(const uint8_t *bytes, size_t count) {
    size_t index = 0;
#if defined(LK_VECTORS)
    while (count - index >= 16) {
        const lk_bits unusual = lk_not(lk_bits_of(lk_usual_in_names(lk_load(bytes + index))));
        if (unusual == 0) {
            index += 16;
            continue;
        }
        index += lk_first(unusual);
        if (!lk_is_token_byte(bytes[index])) return index;
        index++;
    }
#endif
    while (index < count && lk_is_token_byte(bytes[index])) index++;
    return index;
}
