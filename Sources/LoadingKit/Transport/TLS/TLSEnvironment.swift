import LoadingKitPrimitives

/// The environment's settings for trust and keys. They are read in the program to which the connections belong, which
/// may be another process than the one that opens them. In a set-ID program they are without effect, as in OpenSSL.
package struct TLSEnvironment: Sendable, Hashable, Codable {
    /// `SSL_CERT_FILE`: a PEM file of authorities, instead of the system's.
    package var certificateFile: String?
    /// `SSL_CERT_DIR`: folders of authorities, separated by colons, instead of the system's.
    package var certificateFolders: String?
    /// `SSLKEYLOGFILE`: a file to which the connections' keys are appended, for tools that decrypt captures.
    package var keyLogFile: String?

    /// The variables, by their names in lower case.
    package static let variables: Set<String> = ["ssl_cert_file", "ssl_cert_dir", "sslkeylogfile"]

    package static let ofProcess = TLSEnvironment { ProcessEnvironment.secureValue(of: $0) }

    /// No settings: the system's authorities, and no log.
    package init() {}

    /// - Parameter variable: Returns a variable's value. An empty value counts as none.
    package init(_ variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        certificateFile = value("SSL_CERT_FILE")
        certificateFolders = value("SSL_CERT_DIR")
        keyLogFile = value("SSLKEYLOGFILE")
    }

    package var values: [String: String] {
        var values: [String: String] = [:]
        values["SSL_CERT_FILE"] = certificateFile
        values["SSL_CERT_DIR"] = certificateFolders
        values["SSLKEYLOGFILE"] = keyLogFile
        return values
    }

    /// The same files for a process with another current folder.
    ///
    /// - Parameter path: Makes an absolute path from a relative one.
    package func map(_ path: (String) -> String) -> TLSEnvironment {
        var result = TLSEnvironment()
        result.certificateFile = certificateFile.map(path)
        result.certificateFolders = certificateFolders.map {
            $0.split(separator: ":").map { path(String($0)) }.joined(separator: ":")
        }
        result.keyLogFile = keyLogFile.map(path)
        return result
    }
}
