// CRC-32C (Castagnoli; RFC 3720 §12.1), by the processor's instruction where it has one.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Goes on with a checksum; that of no bytes is 0.
uint32_t lk_crc32c(uint32_t checksum, const void *bytes, size_t count);
