#pragma once
#if !__has_include(<brotli/decode.h>)
#error "LoadingKit needs brotli: apt-get install libbrotli-dev, or dnf install brotli-devel"
#else
#include <brotli/decode.h>
#endif
