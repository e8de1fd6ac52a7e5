// Reading of whole field lines (RFC 9112 §5).
#pragma once
#include "known_names.h"

// Where a field's name and value are among the bytes of its section.
typedef struct {
    uint32_t name_offset, name_length, value_offset, value_length;
    uint8_t known;
} lk_field;

// Reads the lines at `*index` as long as they are whole and plain: a token, a colon, a value between optional white space,
// CRLF. Leaves any other to a reader that looks at every byte. `*index` moves behind the lines read, at most `capacity`,
// whose places, `shift` added, go to `fields`. Returns how many they are. `end` is at most UINT32_MAX.
size_t lk_read_field_lines(
    const uint8_t *bytes, size_t *index, size_t end, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names);
