#pragma once
#if !__has_include(<libpsl.h>)
#error "LoadingKit needs libpsl: apt-get install libpsl-dev, or dnf install libpsl-devel"
#else
#include <libpsl.h>
#endif
