#pragma once
#if !__has_include(<krb5.h>)
#error "LoadingKit needs Kerberos: apt-get install libkrb5-dev, or dnf install krb5-devel"
#else
#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <krb5.h>

// Object identifiers. The library's own are variables, which Swift does not allow several threads to read.

static inline gss_OID loadingkit_gss_spnego(void) {  // RFC 4178
    static gss_OID_desc identifier = {6, (void *)"\x2b\x06\x01\x05\x05\x02"};
    return &identifier;
}

static inline gss_OID loadingkit_gss_kerberos(void) {  // RFC 4121 §1
    static gss_OID_desc identifier = {9, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"};
    return &identifier;
}

static inline gss_OID loadingkit_gss_host_based_service(void) {  // RFC 2743 §4.1
    static gss_OID_desc identifier = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
    return &identifier;
}

static inline gss_OID loadingkit_gss_user_name(void) {  // RFC 2743 §4.2
    static gss_OID_desc identifier = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x01"};
    return &identifier;
}

static inline gss_OID loadingkit_gss_principal_name(void) {  // RFC 1964 §2.1.1
    static gss_OID_desc identifier = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01"};
    return &identifier;
}
#endif
