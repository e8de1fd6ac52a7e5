#pragma once
#if !__has_include(<zlib.h>)
#error "LoadingKit needs zlib: apt-get install zlib1g-dev, or dnf install zlib-devel"
#else
#include <zlib.h>
#endif
