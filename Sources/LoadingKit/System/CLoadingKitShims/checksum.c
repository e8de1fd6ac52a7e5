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
// The result of a step is available after the time in which three more could begin, so three blocks of this size are
// processed at once. Then the checksums of the first two are advanced over the bytes that follow them.
enum { BLOCK = 1024 };

static inline uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

// The checksum after a block of zeros, for each value of each of its bytes. It is linear with respect to exclusive or.
static uint32_t over_block[4][256];
static pthread_once_t over_block_once = PTHREAD_ONCE_INIT;

static void make_over_block(void) {
    static const uint8_t zeros[BLOCK];
    for (int byte = 0; byte < 4; byte++)
        for (uint32_t value = 1; value < 256; value++) {
            const uint32_t lowest = value & -value;
            over_block[byte][value] = value == lowest ? with_table(value << 8 * byte, zeros, BLOCK)
                                                      : over_block[byte][lowest] ^ over_block[byte][value ^ lowest];
        }
}

static inline uint32_t move_over_block(uint32_t checksum) {
    return over_block[0][checksum & 255] ^ over_block[1][checksum >> 8 & 255] ^ over_block[2][checksum >> 16 & 255]
        ^ over_block[3][checksum >> 24];
}

WITH_INSTRUCTION static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    if (count >= 3 * BLOCK) pthread_once(&over_block_once, make_over_block);
    for (; count >= 3 * BLOCK; count -= 3 * BLOCK, bytes += 3 * BLOCK) {
        uint32_t second = 0, third = 0;
        for (size_t at = 0; at < BLOCK; at += 8) {
            checksum = STEP_8(checksum, word_at(bytes + at));
            second = STEP_8(second, word_at(bytes + BLOCK + at));
            third = STEP_8(third, word_at(bytes + 2 * BLOCK + at));
        }
        checksum = move_over_block(move_over_block(checksum) ^ second) ^ third;
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
