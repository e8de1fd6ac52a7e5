// What kind of byte each of 64 is, told sixteen at a time where the processor's baseline allows it.
#pragma once
#include "http_scan.h"
#include <string.h>
#if !defined(__SSE2__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Which of 64 bytes are of interest: bit n stands for byte n.
typedef struct {
    // Neither a letter, a digit nor a hyphen, of which nearly all names consist.
    uint64_t unusual;
    // Not allowed in a field value.
    uint64_t control;
    uint64_t line_feed;
} lk_block;

#if defined(__SSE2__)
static inline uint64_t lk_mask(__m128i bytes) { return (uint16_t)_mm_movemask_epi8(bytes); }

static inline lk_block lk_classify(const uint8_t *bytes) {
    lk_block block = {0, 0, 0};
    for (int part = 0; part < 64; part += 16) {
        const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(bytes + part));
        block.unusual |= (lk_mask(lk_usual_in_names(b)) ^ 0xFFFF) << part;
        block.control |= lk_mask(lk_controls(b)) << part;
        block.line_feed |= lk_mask(_mm_cmpeq_epi8(b, _mm_set1_epi8('\n'))) << part;
    }
    return block;
}
#elif defined(__ARM_NEON)
// A bit for each byte of four vectors that is 0xFF; the others are 0.
static inline uint64_t lk_mask(const uint8x16_t bytes[4]) {
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(bytes[0], bits), vandq_u8(bytes[1], bits));
    const uint8x16_t high = vpaddq_u8(vandq_u8(bytes[2], bits), vandq_u8(bytes[3], bits));
    const uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

static inline lk_block lk_classify(const uint8_t *bytes) {
    uint8x16_t unusual[4], control[4], line_feed[4];
    for (int part = 0; part < 4; part++) {
        const uint8x16_t b = vld1q_u8(bytes + 16 * part);
        const uint8x16_t letter = vcleq_u8(vsubq_u8(vorrq_u8(b, vdupq_n_u8(0x20)), vdupq_n_u8('a')), vdupq_n_u8(25));
        const uint8x16_t digit = vcleq_u8(vsubq_u8(b, vdupq_n_u8('0')), vdupq_n_u8(9));
        const uint8x16_t low = vbicq_u8(vcleq_u8(b, vdupq_n_u8(0x1F)), vceqq_u8(b, vdupq_n_u8('\t')));
        unusual[part] = vmvnq_u8(vorrq_u8(vorrq_u8(letter, digit), vceqq_u8(b, vdupq_n_u8('-'))));
        control[part] = vorrq_u8(low, vceqq_u8(b, vdupq_n_u8(0x7F)));
        line_feed[part] = vceqq_u8(b, vdupq_n_u8('\n'));
    }
    lk_block block = {lk_mask(unusual), lk_mask(control), lk_mask(line_feed)};
    return block;
}
#else
static inline lk_block lk_classify(const uint8_t *bytes) {
    lk_block block = {0, 0, 0};
    for (int n = 0; n < 64; n++) {
        const uint8_t b = bytes[n], small = b | 0x20;
        const int usual = (small >= 'a' && small <= 'z') || (b >= '0' && b <= '9') || b == '-';
        block.unusual |= (uint64_t)!usual << n;
        block.control |= (uint64_t)!lk_is_value_byte(b) << n;
        block.line_feed |= (uint64_t)(b == '\n') << n;
    }
    return block;
}
#endif

// The 64 bytes from `base` on. Those from `end` on, which are not read, count as controls.
static inline lk_block lk_block_at(const uint8_t *bytes, size_t base, size_t end) {
    if (end - base >= 64) return lk_classify(bytes + base);
    const int beyond = (int)(64 - (end - base));
    lk_block block;
    if (end >= 64) {
        block = lk_classify(bytes + end - 64);
        block.unusual >>= beyond;
        block.control >>= beyond;
        block.line_feed >>= beyond;
    } else {
        uint8_t last[64] = {0};
        memcpy(last, bytes + base, end - base);
        block = lk_classify(last);
    }
    block.control |= ~UINT64_C(0) << (64 - beyond);
    return block;
}
