// Scanning of HTTP's tokens and field values, sixteen bytes at a time where the processor's baseline allows it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// RFC 9110 §5.6.2: tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~"
// / DIGIT / ALPHA. Bit n of word w stands for byte 32 * w + n.
static inline int lk_is_token_byte(uint8_t byte) {
    static const uint32_t tchars[8] = {0, 0x03FF6CFA, 0xC7FFFFFE, 0x57FFFFFF, 0, 0, 0, 0};
    return (tchars[byte >> 5] >> (byte & 31)) & 1;
}

// RFC 9110 §5.5: visible characters, obs-text, space and tab.
static inline int lk_is_value_byte(uint8_t byte) { return (byte >= 0x20 && byte != 0x7F) || byte == 0x09; }

#if defined(__SSE2__)
// Each byte 0xFF where the test holds, else 0.
static inline __m128i lk_at_most(__m128i bytes, char most) {
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes);
}

// What a field value may not contain.
static inline __m128i lk_controls(__m128i bytes) {
    const __m128i low = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')), lk_at_most(bytes, 0x1F));
    return _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
}

// Letters, digits and hyphens, of which nearly all names consist.
static inline __m128i lk_usual_in_names(__m128i bytes) {
    const __m128i small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i letter = lk_at_most(_mm_sub_epi8(small, _mm_set1_epi8('a')), 25);
    const __m128i digit = lk_at_most(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), 9);
    return _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
}
#endif

// The index of the first byte that a field value may not contain, or count.
static inline size_t lk_value_end(const uint8_t *bytes, size_t count) {
    size_t index = 0;
#if defined(__SSE2__)
    for (; index + 16 <= count; index += 16) {
        int mask = _mm_movemask_epi8(lk_controls(_mm_loadu_si128((const __m128i *)(const void *)(bytes + index))));
        if (mask != 0) return index + (size_t)__builtin_ctz((unsigned)mask);
    }
#endif
    while (index < count && lk_is_value_byte(bytes[index])) index++;
    return index;
}

// The index of the first byte that is no token byte, or count.
static inline size_t lk_token_end(const uint8_t *bytes, size_t count) {
    size_t index = 0;
#if defined(__SSE2__)
    while (index + 16 <= count) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(bytes + index));
        unsigned mask = (unsigned)_mm_movemask_epi8(lk_usual_in_names(block)) ^ 0xFFFF;
        if (mask == 0) {
            index += 16;
            continue;
        }
        index += (size_t)__builtin_ctz(mask);
        if (!lk_is_token_byte(bytes[index])) return index;
        index++;
    }
#endif
    while (index < count && lk_is_token_byte(bytes[index])) index++;
    return index;
}
