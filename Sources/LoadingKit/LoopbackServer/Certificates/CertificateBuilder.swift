import CLoadingKitOpenSSL
import LoadingKitTransport

/// Fills and signs one certificate.
struct CertificateBuilder {
    /// The signing issuer. Nil: the certificate is self-signed.
    struct Issuer {
        var certificate: ParsedCertificate
        var key: PrivateKey
    }

    let template: CertificateTemplate

    func build(key: PrivateKey, issuer: Issuer?) throws(OpenSSLError) -> ParsedCertificate {
        let certificate = try ParsedCertificate()
        let target = certificate.pointer
        // Version 3 is written as 2 (RFC 5280 §4.1.2.1).
        try check(X509_set_version(target, 2), "setting the version")
        try setSerialNumber(of: target)
        try setValidity(of: target)
        try setNames(of: target, issuer: issuer)
        try check(X509_set_pubkey(target, key.pointer), "setting the public key")
        try addExtensions(to: target, issuer: issuer?.certificate.pointer ?? target)
        let signer = issuer?.key ?? key
        let digest = template.digest == .sha256 ? EVP_sha256() : EVP_sha224()
        try check(X509_sign(target, signer.pointer, digest), "signing a certificate")
        return certificate
    }

    private func setSerialNumber(of target: OpaquePointer) throws(OpenSSLError) {
        let number = try required(BN_new(), "making a serial number")
        defer { BN_free(number) }
        // 127 bits, the top one set: positive, unique, and within the 20 octets of RFC 5280 §4.1.2.2.
        try check(BN_rand(number, 127, 0, 0), "making a serial number")
        _ = try required(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(target)), "setting the serial number")
    }

    private func setValidity(of target: OpaquePointer) throws(OpenSSLError) {
        let notBefore = try required(ASN1_TIME_set(nil, template.notBefore), "encoding notBefore")
        defer { ASN1_STRING_free(notBefore) }
        let notAfter = try required(ASN1_TIME_set(nil, template.notAfter), "encoding notAfter")
        defer { ASN1_STRING_free(notAfter) }
        try check(X509_set1_notBefore(target, notBefore), "setting notBefore")
        try check(X509_set1_notAfter(target, notAfter), "setting notAfter")
    }

    private func setNames(of target: OpaquePointer, issuer: Issuer?) throws(OpenSSLError) {
        let name = try required(X509_NAME_new(), "making a name")
        defer { X509_NAME_free(name) }
        let bytes = Array(template.commonName.utf8)
        guard let count = Int32(exactly: bytes.count) else {
            throw OpenSSLError("making a name", reason: "\(bytes.count) bytes are too many")
        }
        try check(
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, bytes, count, -1, 0),
            "setting the common name \(template.commonName)")
        try check(X509_set_subject_name(target, name), "setting the subject")
        let issuerName = issuer.map { X509_get_subject_name($0.certificate.pointer) } ?? name
        try check(X509_set_issuer_name(target, issuerName), "setting the issuer")
    }

    // MARK: Extensions

    private func addExtensions(to target: OpaquePointer, issuer: OpaquePointer) throws(OpenSSLError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, target, nil, nil, 0)
        try add(NID_subject_key_identifier, "hash", to: target, &context)
        switch template.usage {
        case .server:
            try addLeaf("serverAuth", to: target, &context)
        case .client:
            try addLeaf("clientAuth", to: target, &context)
        case .ocspResponder:
            try addLeaf("OCSPSigning", to: target, &context)
        case .authority(let pathLength):
            let critical = template.hasCriticalBasicConstraints ? "critical," : ""
            let bound = pathLength.map { ",pathlen:\($0)" } ?? ""
            try add(NID_basic_constraints, critical + "CA:TRUE" + bound, to: target, &context)
            try add(NID_key_usage, "critical,keyCertSign,cRLSign", to: target, &context)
        case .unspecified:
            break
        }
        if let constraints = template.nameConstraints {
            try add(NID_name_constraints, "critical," + constraints, to: target, &context)
        }
        if template.demandsStatus { try add(NID_tlsfeature, "status_request", to: target, &context) }
        try add(NID_authority_key_identifier, "keyid", to: target, &context)
        try addAlternativeNames(to: target)
    }

    private func addLeaf(
        _ extendedUsage: String, to target: OpaquePointer, _ context: inout X509V3_CTX
    ) throws(OpenSSLError) {
        try add(NID_basic_constraints, "critical,CA:FALSE", to: target, &context)
        // In TLS 1.2 the client may encrypt a secret with an RSA key.
        let isRSA = if case .rsa = template.key { true } else { false }
        try add(NID_key_usage, "critical,digitalSignature" + (isRSA ? ",keyEncipherment" : ""), to: target, &context)
        try add(NID_ext_key_usage, extendedUsage, to: target, &context)
    }

    private func add(
        _ identifier: Int32, _ value: String, to target: OpaquePointer, _ context: inout X509V3_CTX
    ) throws(OpenSSLError) {
        let element = try required(X509V3_EXT_conf_nid(nil, &context, identifier, value), "making extension \(value)")
        defer { X509_EXTENSION_free(element) }
        try check(X509_add_ext(target, element, -1), "adding extension \(value)")
    }

    private func addAlternativeNames(to target: OpaquePointer) throws(OpenSSLError) {
        guard !template.dnsNames.isEmpty || !template.ipAddresses.isEmpty else { return }
        let names = try required(OPENSSL_sk_new_null(), "making the alternative names")
        defer { GENERAL_NAMES_free(names) }
        for name in template.dnsNames {
            try push(GEN_DNS, V_ASN1_IA5STRING, Array(name.utf8), onto: names)
        }
        for address in template.ipAddresses {
            guard let bytes = IPAddress(address)?.bytes else {
                throw OpenSSLError("making an alternative name", reason: "\(address) is no IP address")
            }
            try push(GEN_IPADD, V_ASN1_OCTET_STRING, bytes, onto: names)
        }
        try check(
            X509_add1_ext_i2d(
                target, NID_subject_alt_name, UnsafeMutableRawPointer(names), 0, UInt(X509V3_ADD_DEFAULT)),
            "adding the alternative names")
    }

    private func push(
        _ kind: Int32, _ stringType: Int32, _ bytes: [UInt8], onto names: OpaquePointer
    ) throws(OpenSSLError) {
        guard let count = Int32(exactly: bytes.count) else {
            throw OpenSSLError("making an alternative name", reason: "\(bytes.count) bytes are too many")
        }
        let string = try required(ASN1_STRING_type_new(stringType), "making an alternative name")
        guard ASN1_STRING_set(string, bytes, count) > 0, let name = GENERAL_NAME_new() else {
            ASN1_STRING_free(string)
            throw OpenSSLError("making an alternative name")
        }
        // From here on the name owns the string, and after the push the list owns the name.
        GENERAL_NAME_set0_value(name, kind, string)
        guard OPENSSL_sk_push(names, name) > 0 else {
            GENERAL_NAME_free(name)
            throw OpenSSLError("adding an alternative name")
        }
    }
}
