#pragma once
#if !__has_include(<zstd.h>)
#error "LoadingKit needs zstd: apt-get install libzstd-dev, or dnf install libzstd-devel"
#else
#include <zstd.h>
#include <zstd_errors.h>
#endif
