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
WITH_INSTRUCTION static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        checksum = STEP_8(checksum, word);
    }
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
