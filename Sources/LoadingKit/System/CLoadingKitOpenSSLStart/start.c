#include "CLoadingKitOpenSSLStart.h"
#include <openssl/crypto.h>

__attribute__((constructor)) void lk_openssl_start(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
