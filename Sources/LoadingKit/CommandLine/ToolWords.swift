import Foundation

/// The library's advice to programs, in the words of the tool: options in place of members of the interface.
enum ToolWords {
    static func text(_ text: String) -> String {
        table.reduce(text) { $0.replacingOccurrences(of: $1.library, with: $1.tool) }
    }

    /// Longer phrases precede their parts.
    private static let table: [(library: String, tool: String)] = [
        // Certificates.
        ("name it in configuration.tlsTrustRoots", "give it with --cacert (-k trusts every server)"),
        (", and the lists in configuration.tlsRevocationLists must be current", ""),
        (
            "change configuration.appTransportSecurity.pinnedDomains, or NSPinnedDomains of the Info.plist",
            "give the new ones with --pinnedpubkey"
        ),
        ("that the program has pinned", "of --pinnedpubkey"),
        (
            "an entry in configuration.appTransportSecurity.exceptionDomains (requiresStrongCertificates = false) where "
                + "OpenSSL's security level allows the weak one",
            "-k where OpenSSL's security level allows the weak one"
        ),
        ("the program refused the certificate", "the certificate was refused"),
        ("; the delegate has decided this", ""),
        (
            "answer the challenge NSURLAuthenticationMethodClientCertificate with "
                + "URLCredential(identity:certificates:persistence:)",
            "give one with --cert"
        ),
        (
            "only offered where configuration.appTransportSecurity.exceptionDomains says so "
                + "(requiresForwardSecrecy = false)",
            "not offered here"
        ),
        ("configuration.allowsHTTP2 = false", "--http1.1"),
        ("(requiredInterface)", "(--interface)"),
        ("(tlsCipherList)", "(--ciphers)"),
        ("(tlsCipherSuites)", "(--tls13-ciphers)"),
        // Cleartext.
        (
            ", or allow it with configuration.appTransportSecurity (exceptionDomains or allowsArbitraryLoads)", ""
        ),
        ("the field FTP-TLS: required", "-H 'FTP-TLS: required'"),
        // Times and sizes.
        (" (timeoutIntervalForRequest)", ""),
        ("(timeoutIntervalForResource)", "(--max-time)"),
        (
            "configuration.maximumDecompressionRatio allows: raise that where the server is trusted",
            "is allowed: -H 'Accept-Encoding: identity' asks for the body without a coding"
        ),
        ("configuration.maximumDecompressionRatio allows: raise that where the archive is trusted", "is allowed"),
        ("raise ArchiveLimits.wholeArchive, or download the archive", "download the archive with -O"),
        (": raise ArchiveLimits.directory", ""),
        // Logins and bodies.
        (
            "the URL, the credential storage and the task's delegate have none",
            "neither the URL nor -u, --netrc-file or -n gives it"
        ),
        ("from its settings, the credential storage, or the task's delegate", "with -U"),
        ("the delegate gave no new body stream to send with them", "what -T reads was already sent"),
        ("the delegate gave no new body stream", "what -T reads was already sent"),
    ]
}
