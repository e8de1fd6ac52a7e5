// OpenSSL's headers, and inline functions for those parts of its API that are macros.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline int LK_SSL_CTX_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return SSL_CTX_set_min_proto_version(context, minimum) && SSL_CTX_set_max_proto_version(context, maximum);
}
static inline void LK_SSL_CTX_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}
static inline void LK_SSL_CTX_keep_sessions(SSL_CTX *context, int (*remember)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context, remember);
}
static inline int LK_SSL_SESSION_is_single_use(SSL_SESSION *session) {
    return SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION;
}
static inline void LK_SSL_set_owner(SSL *ssl, void *owner) { SSL_set_app_data(ssl, owner); }
static inline void *LK_SSL_get_owner(const SSL *ssl) { return SSL_get_app_data(ssl); }
static inline void LK_SSL_set_server_name(SSL *ssl, const char *name) { SSL_set_tlsext_host_name(ssl, name); }
static inline int LK_ERR_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline void LK_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void LK_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void LK_BIO_set_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline void LK_BIO_set_eof(BIO *bio) { BIO_set_flags(bio, BIO_FLAGS_IN_EOF); }
static inline int LK_BIO_is_eof(BIO *bio) { return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0; }
static inline int LK_sk_X509_num(const STACK_OF(X509) *chain) { return sk_X509_num(chain); }
static inline X509 *LK_sk_X509_value(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }
static inline void LK_OPENSSL_free(void *memory) { OPENSSL_free(memory); }
static inline void LK_SSL_CTX_set_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }
