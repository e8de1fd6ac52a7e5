#include <stddef.h>
#include <stdint.h>

// The package manager has the program begin here, and libFuzzer's own `main` is not linked.
int LLVMFuzzerRunDriver(int *argument_count, char ***arguments, int (*target)(const uint8_t *, size_t));
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int Fuzz_main(int argument_count, char **arguments) {
    return LLVMFuzzerRunDriver(&argument_count, &arguments, LLVMFuzzerTestOneInput);
}
