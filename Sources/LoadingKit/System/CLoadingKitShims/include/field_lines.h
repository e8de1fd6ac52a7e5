// Reads complete field lines (RFC 9112 §5).
#pragma once
#include "known_names.h"

// The ranges of a field's name and value in the bytes of its section.
typedef struct {
    uint32_t name_offset, name_length, value_offset, value_length;
    uint8_t known;
} lk_field;

// The values of the fields that frame a message or concern its connection.
typedef struct {
    // The number of fields with each lk_role.
    uint32_t counts[lk_roles];
    // Whether the last Content-Length is only a number of at most 18 digits, and this number.
    uint32_t is_number;
    // Whether the last Connection is only `keep-alive`.
    uint32_t is_keep_alive;
    uint64_t number;
} lk_framing;

// The result of reading a section.
typedef struct {
    // The index of the first byte that was not read.
    size_t index;
    uint32_t count;
    // Whether the empty line at the end of the section was read.
    uint32_t is_complete;
    lk_framing framing;
} lk_lines;

// Reads the lines at `index` while they are complete and plain: a token, a colon, a value between optional white space,
// and CRLF; and the empty line at the end. Any other line is left to a reader that checks every byte. The ranges of at
// most `capacity` fields, with `shift` added, are written to `fields`. `end` and `shift` are at most INT32_MAX.
void lk_read_field_lines(
    const uint8_t *bytes, size_t index, size_t end, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names, lk_lines *lines);
