// Operations on sixteen bytes at a time, if the processor's baseline supports them.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define LK_VECTORS 1
typedef __m128i lk_vector;
// The bytes of a vector for which a test is true, from the lowest bits on.
typedef uint32_t lk_bits;
enum { lk_bits_a_byte = 1 };

static inline lk_vector lk_load(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)(const void *)bytes); }
static inline lk_vector lk_and(lk_vector a, lk_vector b) { return _mm_and_si128(a, b); }
static inline lk_vector lk_or(lk_vector a, lk_vector b) { return _mm_or_si128(a, b); }
static inline lk_vector lk_minus(lk_vector a, lk_vector b) { return _mm_andnot_si128(b, a); }
static inline lk_vector lk_less(lk_vector a, uint8_t b) { return _mm_sub_epi8(a, _mm_set1_epi8((char)b)); }
static inline lk_vector lk_all(uint8_t byte) { return _mm_set1_epi8((char)byte); }

// The tests: each byte is 0xFF if the test is true, otherwise 0.
static inline lk_vector lk_equal(lk_vector a, uint8_t b) { return _mm_cmpeq_epi8(a, lk_all(b)); }
static inline lk_vector lk_at_most(lk_vector a, uint8_t b) { return _mm_cmpeq_epi8(_mm_min_epu8(a, lk_all(b)), a); }

// Tests for bytes that are not printable ASCII (0x20 to 0x7E): incremented, as a signed number, such a byte is less
// than 0x21. Only the highest bit of each byte of the result is meaningful here.
static inline lk_vector lk_unprintable(lk_vector a) {
    return _mm_subs_epi8(_mm_sub_epi8(a, _mm_set1_epi8(-1)), lk_all(0x21));
}

static inline lk_bits lk_bits_of(lk_vector test) { return (lk_bits)_mm_movemask_epi8(test); }

// One bit for each byte of four vectors.
static inline uint64_t lk_bits_of_4(const lk_vector tests[4]) {
    return (uint64_t)lk_bits_of(tests[0]) | (uint64_t)lk_bits_of(tests[1]) << 16 | (uint64_t)lk_bits_of(tests[2]) << 32
           | (uint64_t)lk_bits_of(tests[3]) << 48;
}
#elif defined(__ARM_NEON) && defined(__aarch64__) && defined(__LITTLE_ENDIAN__)
#include <arm_neon.h>
#define LK_VECTORS 1
typedef uint8x16_t lk_vector;
typedef uint64_t lk_bits;
enum { lk_bits_a_byte = 4 };

static inline lk_vector lk_load(const uint8_t *bytes) { return vld1q_u8(bytes); }
static inline lk_vector lk_and(lk_vector a, lk_vector b) { return vandq_u8(a, b); }
static inline lk_vector lk_or(lk_vector a, lk_vector b) { return vorrq_u8(a, b); }
static inline lk_vector lk_minus(lk_vector a, lk_vector b) { return vbicq_u8(a, b); }
static inline lk_vector lk_less(lk_vector a, uint8_t b) { return vsubq_u8(a, vdupq_n_u8(b)); }
static inline lk_vector lk_all(uint8_t byte) { return vdupq_n_u8(byte); }
static inline lk_vector lk_equal(lk_vector a, uint8_t b) { return vceqq_u8(a, vdupq_n_u8(b)); }
static inline lk_vector lk_at_most(lk_vector a, uint8_t b) { return vcleq_u8(a, vdupq_n_u8(b)); }

// Tests for bytes that are not printable ASCII (0x20 to 0x7E).
static inline lk_vector lk_unprintable(lk_vector a) { return vcgtq_u8(vsubq_u8(a, vdupq_n_u8(0x20)), vdupq_n_u8(0x5E)); }

static inline lk_bits lk_bits_of(lk_vector test) {
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(test), 4)), 0);
}

// One bit for each byte of four vectors.
static inline uint64_t lk_bits_of_4(const lk_vector tests[4]) {
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(tests[0], bits), vandq_u8(tests[1], bits));
    const uint8x16_t high = vpaddq_u8(vandq_u8(tests[2], bits), vandq_u8(tests[3], bits));
    const uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}
#endif

#if defined(LK_VECTORS)
// The index of the first byte for which a test is true. There must be one.
static inline size_t lk_first(lk_bits bits) { return (size_t)__builtin_ctzll(bits) / lk_bits_a_byte; }
static inline lk_bits lk_not(lk_bits bits) { return bits ^ (lk_bits)(~UINT64_C(0) >> (64 - 16 * lk_bits_a_byte)); }
#endif
