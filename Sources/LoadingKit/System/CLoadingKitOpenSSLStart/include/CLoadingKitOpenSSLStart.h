#pragma once

// Has OpenSSL keep what it has made until the process is gone.
//
// Otherwise OpenSSL frees its global state in an exit handler, while event loops, stores and the program's own threads still
// use it: a program that returns from `main` in mid-load ends by SIGSEGV now and then.
//
// It has to be the process's first call of OpenSSL, and so is made before `main`. Modules that call OpenSSL call it as well
// where they begin to, since a linker leaves out of an archive what nobody refers to; after the first call it does nothing.
void lk_openssl_start(void);
