#include "CMeter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void client_fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    _Exit(1);
}

static long positive(const char *text) {
    char *end;
    long number = strtol(text, &end, 10);
    if (*end || number < 1) client_fail("a number that is none, or below 1");
    return number;
}

client_arguments client_arguments_read(int count, char *const *arguments) {
    if (count < 6) client_fail("arguments: MODE URL REQUESTS AT-A-TIME LENGTH [CERTIFICATE|- [FILE]]");
    return (client_arguments){
        .mode = arguments[1],
        .url = arguments[2],
        .requests = positive(arguments[3]),
        .at_a_time = positive(arguments[4]),
        .length = positive(arguments[5]),
        .certificate = count > 6 && strcmp(arguments[6], "-") != 0 ? arguments[6] : NULL,
        .file = count > 7 ? arguments[7] : NULL,
    };
}
