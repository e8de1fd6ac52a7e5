// OpenSSL's headers, and inline functions for those parts of its API that are macros.
#pragma once
#if !__has_include(<openssl/provider.h>)
#error "LoadingKit needs OpenSSL 3: apt-get install libssl-dev, or dnf install openssl-devel"
#else
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline void lk_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

// The callback for PEM that is read without a password: OpenSSL would otherwise ask for it at the terminal, or read a line
// of the program's standard input.
static inline int lk_no_password(char *buffer, int size, int encrypts, void *context) {
    (void)buffer, (void)size, (void)encrypts, (void)context;
    return -1;
}

static const unsigned long lk_XN_FLAG_RFC2253 = XN_FLAG_RFC2253;

static inline long lk_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

static inline void lk_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void lk_BIO_set_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline void lk_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline long lk_SSL_CTX_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline void lk_SSL_CTX_set_read_ahead(SSL_CTX *context, int on) { SSL_CTX_set_read_ahead(context, on); }
static inline int lk_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int lk_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline void lk_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}
static inline int lk_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, (char *)name);
}
static inline int lk_SSL_set_retry_verify(SSL *ssl) { return (int)SSL_set_retry_verify(ssl); }
static inline long lk_SSL_CTX_set_tlsext_status_type(SSL_CTX *context, int type) {
    return SSL_CTX_set_tlsext_status_type(context, type);
}
static inline long lk_SSL_CTX_set_tlsext_status_cb(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(context, callback);
}
static inline long lk_SSL_get_tlsext_status_ocsp_resp(SSL *ssl, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, response);
}
static const uint64_t lk_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;

// The rounds in a parameter of key derivation. ASN1_INTEGER_get returns a negative number for a value that does not fit.
static inline double lk_rounds(const ASN1_INTEGER *number) {
    long rounds = ASN1_INTEGER_get(number);
    return rounds < 0 ? 1e300 : (double)rounds;
}

// The rounds of a function that derives keys: PBKDF2 (RFC 8018) or scrypt (RFC 7914). OpenSSL has no others.
static inline double lk_key_function_rounds(const X509_ALGOR *function) {
    int kind = OBJ_obj2nid(function->algorithm);
    double rounds = 0;
    if (kind == NID_id_pbkdf2) {
        PBKDF2PARAM *parameters = (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(PBKDF2PARAM_it(), function->parameter);
        if (parameters != NULL) rounds = lk_rounds(parameters->iter);
        PBKDF2PARAM_free(parameters);
    }
#ifndef OPENSSL_NO_SCRYPT
    if (kind == NID_id_scrypt) {
        SCRYPT_PARAMS *parameters = (SCRYPT_PARAMS *)ASN1_TYPE_unpack_sequence(SCRYPT_PARAMS_it(), function->parameter);
        if (parameters != NULL) {
            rounds = lk_rounds(parameters->costParameter) * lk_rounds(parameters->blockSize)
                * lk_rounds(parameters->parallelizationParameter);
        }
        SCRYPT_PARAMS_free(parameters);
    }
#endif
    return rounds;
}

// The rounds of key derivation for which an algorithm with a password asks. 0 where its parameters cannot be read: OpenSSL
// then derives no key.
static inline double lk_key_derivation_rounds(const X509_ALGOR *algorithm) {
    if (algorithm == NULL) return 0;
    int kind = OBJ_obj2nid(algorithm->algorithm);
    double rounds = 0;
    // The parameters of PBMAC1, a MAC of PKCS#12 files (RFC 9579), have the same form as those of PBES2.
    if (kind == NID_pbes2 || kind == NID_pbmac1) {
        PBE2PARAM *parameters = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(PBE2PARAM_it(), algorithm->parameter);
        if (parameters != NULL) rounds = lk_key_function_rounds(parameters->keyfunc);
        PBE2PARAM_free(parameters);
    } else {
        // PBES1, and PKCS#12's own (RFC 7292, appendix C).
        PBEPARAM *parameters = (PBEPARAM *)ASN1_TYPE_unpack_sequence(PBEPARAM_it(), algorithm->parameter);
        if (parameters != NULL) rounds = lk_rounds(parameters->iter);
        PBEPARAM_free(parameters);
    }
    return rounds;
}

// The algorithm with which a part of a PKCS#12 file is encrypted; NULL where it is not.
static inline const X509_ALGOR *lk_PKCS7_encryption(const PKCS7 *part) {
    if (!PKCS7_type_is_encrypted(part) || part->d.encrypted == NULL || part->d.encrypted->enc_data == NULL) return NULL;
    return part->d.encrypted->enc_data->algorithm;
}

static const int lk_ERR_R_UNSUPPORTED = ERR_R_UNSUPPORTED;
static inline int lk_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline int lk_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }
static const int lk_ERR_R_MALLOC_FAILURE = ERR_R_MALLOC_FAILURE;
#endif
