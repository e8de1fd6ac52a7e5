#include "checksum.h"
#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    uint64_t value = checksum;
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        value = _mm_crc32_u64(value, word);
    }
    for (; count > 0; count--, bytes++) value = _mm_crc32_u8((uint32_t)value, *bytes);
    return (uint32_t)value;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        checksum = __crc32cd(checksum, word);
    }
    for (; count > 0; count--, bytes++) checksum = __crc32cb(checksum, *bytes);
    return checksum;
}

static int has_instruction(void) { return 1; }
#else
static uint32_t with_instruction(uint32_t checksum, const uint8_t *bytes, size_t count) {
    (void)bytes, (void)count;
    return checksum;
}

static int has_instruction(void) { return 0; }
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

uint32_t lk_crc32c(uint32_t checksum, const void *bytes, size_t count) {
    const uint32_t start = ~checksum;
    return ~(has_instruction() ? with_instruction(start, bytes, count) : with_table(start, bytes, count));
}
