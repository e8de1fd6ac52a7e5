// A table of well-known names, which a name is looked up in by its first and its last eight bytes.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A place in the table; of length 0 where it is free. The letters of the words are small.
typedef struct {
    uint64_t first, last;
    const uint8_t *name;
    uint8_t length;
    uint8_t number;
} lk_known_name;

// Places in a table, which has four times as many as there are names: a free one is always near.
enum { lk_known_name_slots = 512, lk_longest_known_name = 32 };

// Bit 5 of each byte tells small letters from capital ones. Of the bytes that a token may have, digits and hyphens have it
// set anyway, and the few others that it changes to another token byte are in no well-known name.
#define LK_SMALL UINT64_C(0x2020202020202020)

static inline uint64_t lk_load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word | LK_SMALL;
}

static inline uint64_t lk_load32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word | (uint32_t)LK_SMALL;
}

// All of a name of up to 16 bytes, and both ends of a longer one, in a form that is alike for all cases of its letters.
static inline __attribute__((always_inline)) void
lk_fold_name(const uint8_t *name, size_t length, uint64_t *first, uint64_t *last) {
    if (length >= 8) {
        *first = lk_load64(name);
        *last = lk_load64(name + length - 8);
    } else if (length >= 4) {
        *first = lk_load32(name);
        *last = lk_load32(name + length - 4);
    } else {
        *first = length > 0 ? (uint64_t)(name[0] | 0x20) : 0;
        *last = length > 0 ? (uint64_t)(name[length / 2] | 0x20) << 8 | (name[length - 1] | 0x20) : 0;
    }
}

static inline size_t lk_known_name_slot(uint64_t first, uint64_t last, size_t length) {
    return (size_t)(((first ^ (last << 3)) + length) * UINT64_C(0x9E3779B97F4A7C15) >> 55);
}

// Whether the bytes between the ends of two names of more than 16 bytes, and of at most 32, are alike.
static inline int lk_is_same_middle(const uint8_t *a, const uint8_t *b, size_t length) {
    return lk_load64(a + 8) == lk_load64(b + 8) && lk_load64(a + length - 16) == lk_load64(b + length - 16);
}

// The number of the name in a table, or 0. `name` has only bytes that a token may have.
static inline __attribute__((always_inline)) uint8_t
lk_known_name_number(const lk_known_name *table, const uint8_t *name, size_t length) {
    if (length > lk_longest_known_name) return 0;
    uint64_t first, last;
    lk_fold_name(name, length, &first, &last);
    size_t slot = lk_known_name_slot(first, last, length);
    for (; table[slot].length > 0; slot = (slot + 1) % lk_known_name_slots) {
        const lk_known_name *known = &table[slot];
        if (known->first == first && known->last == last && known->length == length
            && (length <= 16 || lk_is_same_middle(name, known->name, length))) {
            return known->number;
        }
    }
    return 0;
}

// Puts a name, which stays where it is, into a table that has room.
static inline void lk_add_known_name(lk_known_name *table, const uint8_t *name, size_t length, uint8_t number) {
    lk_known_name known = {0, 0, name, (uint8_t)length, number};
    lk_fold_name(name, length, &known.first, &known.last);
    size_t slot = lk_known_name_slot(known.first, known.last, length);
    while (table[slot].length > 0) slot = (slot + 1) % lk_known_name_slots;
    table[slot] = known;
}
