// CRC-32C (Castagnoli; RFC 3720 §12.1), with the processor's instruction if there is one.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Continues a checksum. The checksum of no bytes is 0.
uint32_t lk_crc32c(uint32_t checksum, const void *bytes, size_t count);
