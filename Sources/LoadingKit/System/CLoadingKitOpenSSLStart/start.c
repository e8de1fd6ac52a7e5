#include "CLoadingKitOpenSSLStart.h"
// Where OpenSSL is not installed, the module's header says so, and nothing else shall hide that.
#include "../CLoadingKitOpenSSL/shim.h"

#if defined(OPENSSL_INIT_NO_ATEXIT)
__attribute__((constructor)) void lk_openssl_start(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
#endif
