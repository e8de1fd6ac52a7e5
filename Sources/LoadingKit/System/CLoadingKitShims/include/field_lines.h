// Reading of whole field lines (RFC 9112 §5).
#pragma once
#include "known_names.h"

// Where a field's name and value are among the bytes of its section.
typedef struct {
    uint32_t name_offset, name_length, value_offset, value_length;
    uint8_t known;
} lk_field;

// What the fields say that frame a message or concern its connection.
typedef struct {
    // How many there are of each lk_role.
    uint32_t counts[lk_roles];
    // Whether the Content-Length that came last is a number of at most 18 digits and nothing else, and which.
    uint32_t is_number;
    // Whether the Connection that came last is `keep-alive` and nothing else.
    uint32_t is_keep_alive;
    uint64_t number;
} lk_framing;

// What was read of a section.
typedef struct {
    // The first byte that was not read.
    size_t index;
    uint32_t count;
    // Whether the empty line was read that ends the section.
    uint32_t is_complete;
    lk_framing framing;
} lk_lines;

// Reads the lines at `index` as long as they are whole and plain: a token, a colon, a value between optional white space,
// CRLF; and the empty line at the end. Leaves any other to a reader that looks at every byte. The places of at most
// `capacity` fields, `shift` added, go to `fields`. `end` and `shift` are at most INT32_MAX.
void lk_read_field_lines(
    const uint8_t *bytes, size_t index, size_t end, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names, lk_lines *lines);
