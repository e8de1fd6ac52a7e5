#include "checksum.h"
#include <pthread.h>
#include <string.h>

// One step of the processor's checksum instruction, for eight bytes or for one.
#if defined(__x86_64__)
#include <nmmintrin.h>

#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define STEP_8(checksum, word) ((uint32_t)_mm_crc32_u64((checksum), (word)))
#define STEP_1(checksum, byte) _mm_crc32_u8((checksum), (byte))

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

#define WITH_INSTRUCTION
#define STEP_8(checksum, word) __crc32cd((checksum), (word))
#define STEP_1(checksum, byte) __crc32cb((checksum), (byte))

static int has_instruction(void) { return 1; }
#endif

// The checksums of the bytes 0 to 255; 0x82F63B78 is the polynomial with its bits reversed.
static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0x82F63B78 : 0);
        table[byte] = value;
    }
}

static uint32_t with_table(uint32_t checksum, const uint8_t *bytes, size_t count) {
    pthread_once(&table_once, make_table);
    for (; count > 0; count--, bytes++) checksum = checksum >> 8 ^ table[(checksum ^ *bytes) & 255];
    return checksum;
}

#if defined(WITH_INSTRUCTION)
// The processor can begin the instruction each cycle, but has its result only three cycles later: three parts of the bytes
// are computed side by side. A part's length is a multiple of eight.
enum { part_size = 1024 };

// What a checksum becomes by `part_size` bytes of zeros behind it, for each value of each of its four bytes.
static uint32_t shifted[4][256];
static pthread_once_t shifted_once = PTHREAD_ONCE_INIT;

static void make_shifted(void) {
    static const uint8_t zeros[part_size];
    for (int place = 0; place < 4; place++) {
        for (int bit = 0; bit < 8; bit++)
            shifted[place][1 << bit] = with_table((uint32_t)1 << (8 * place + bit), zeros, part_size);
        // A checksum is linear in its bits.
        for (int value = 1; value < 256; value++)
            shifted[place][value] = shifted[place][value & (value - 1)] ^ shifted[place][value & -value];
    }
}

static uint32_t shift(uint32_t checksum) {
    return shifted[0][checksum & 255] ^ shifted[1][checksum >> 8 & 255] ^ shifted[2][checksum >> 16 & 255]
        ^ shifted[3][checksum >> 24];
}

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

WITH_INSTRUCTION static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    if (count >= 3 * part_size) pthread_once(&shifted_once, make_shifted);
    for (; count >= 3 * part_size; count -= 3 * part_size, bytes += 3 * part_size) {
        uint32_t second = 0, third = 0;
        for (size_t place = 0; place < part_size; place += 8) {
            checksum = STEP_8(checksum, word_at(bytes + place));
            second = STEP_8(second, word_at(bytes + part_size + place));
            third = STEP_8(third, word_at(bytes + 2 * part_size + place));
        }
        checksum = shift(shift(checksum) ^ second) ^ third;
    }
    for (; count >= 8; count -= 8, bytes += 8) checksum = STEP_8(checksum, word_at(bytes));
    for (; count > 0; count--, bytes++) checksum = STEP_1(checksum, *bytes);
    return checksum;
}
#endif

uint32_t lk_crc32c(uint32_t checksum, const void *bytes, size_t count) {
    const uint32_t start = ~checksum;
#if defined(WITH_INSTRUCTION)
    if (has_instruction()) return ~with_instruction(start, bytes, count);
#endif
    return ~with_table(start, bytes, count);
}
