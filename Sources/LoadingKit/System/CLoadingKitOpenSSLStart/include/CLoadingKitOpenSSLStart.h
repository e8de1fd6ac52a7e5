#pragma once

// Makes OpenSSL keep its global state until the process has ended.
//
// By default OpenSSL frees its global state in an exit handler, while event loops, stores and the program's own threads
// still use it. A program that returns from `main` during a load would then sometimes end with SIGSEGV.
//
// This must be the process's first call of OpenSSL, so it is made before `main`. Modules that use OpenSSL also call it
// at their first use, because a linker omits unreferenced objects of an archive. After the first call it has no effect.
void lk_openssl_start(void);
