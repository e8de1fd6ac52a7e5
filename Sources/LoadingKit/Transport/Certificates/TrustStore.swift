import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives

/// The authorities against which certificates are verified.
enum TrustStore {
    /// The files in which the distributions store the authorities' certificates.
    static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, Red Hat, Amazon Linux
        "/etc/ssl/ca-bundle.pem",  // SUSE
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
    static let usualDirectories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

    /// - Returns: The shared authorities among those that the context trusts; nil if there are none.
    static func install(_ options: TLSOptions, in context: OpaquePointer) throws(TransportError) -> TrustAnchors? {
        if options.trustRoots == .system, !options.verifiesPeer { return nil }
        let source = options.trustSource
        let shared = try source.map { source throws(TransportError) in try SharedTrustStore.ofProcess.anchors(source) }
        if let shared, options.additionalRoots.isEmpty {
            SSL_CTX_set1_cert_store(context, shared.store)
            return shared
        }
        let store = try Self.store(of: context)
        if let source { try source.read(into: store) }
        if case .pem(let text) = options.trustRoots { try add(text, to: store) }
        if !options.additionalRoots.isEmpty { try add(options.additionalRoots, to: store) }
        allowPartialChains(store)
        return shared
    }

    private static func store(of context: OpaquePointer) throws(TransportError) -> OpaquePointer {
        guard let store = SSL_CTX_get_cert_store(context) else {
            throw TransportError.misconfiguredTLS("no trust store")
        }
        return store
    }

    /// A trusted intermediate is sufficient; its root need not be known.
    static func allowPartialChains(_ store: OpaquePointer) {
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }

    /// Adds each certificate of a PEM text. There must be at least one.
    private static func add(_ pem: [UInt8], to store: OpaquePointer) throws(TransportError) {
        ERR_clear_error()
        try BytesBIO.reading(pem) { bio throws(TransportError) in try add(bio, to: store) }
    }

    private static func add(_ bio: OpaquePointer?, to store: OpaquePointer) throws(TransportError) {
        guard let bio else { throw TransportError.misconfiguredTLS("the trusted certificates are none, or too long") }
        var added = 0
        while let certificate = PEM_read_bio_X509_AUX(bio, nil, lk_no_password, nil).map({ readWhole($0) }) {
            defer { X509_free(certificate) }
            guard X509_STORE_add_cert(store, certificate) == 1 else {
                throw TransportError.misconfiguredTLS("a trusted certificate cannot be used (\(OpenSSLError.text()))")
            }
            added += 1
        }
        guard added > 0, OpenSSLError.lastIsEndOfPEM else {
            throw TransportError.misconfiguredTLS("the trusted certificates are not PEM text (\(OpenSSLError.text()))")
        }
        ERR_clear_error()
    }

    /// Has OpenSSL read a certificate's key, extensions and algorithm, which it does once. If it lacks memory then, the
    /// certificate is invalid for as long as it exists: it is released, and a copy, which is read anew, is returned.
    private static func readWhole(_ certificate: OpaquePointer) -> OpaquePointer {
        let isWhole =
            X509_get0_pubkey(certificate).map { EVP_PKEY_get_security_bits($0) > 0 } == true
            && X509_check_purpose(certificate, -1, 0) == 1
            && X509_get_signature_info(certificate, nil, nil, nil, nil) == 1
        guard !isWhole, let copy = X509_dup(certificate) else { return certificate }
        X509_free(certificate)
        _ = X509_check_purpose(copy, -1, 0)
        return copy
    }

    /// Loads the files and folders that the environment names, otherwise the usual ones, otherwise OpenSSL's defaults.
    ///
    /// The result is kept while the files do not change. A file that only temporarily cannot be read is therefore a
    /// failure, and is not skipped.
    ///
    /// - Returns: The file and the folders that were read; none for OpenSSL's defaults.
    @discardableResult
    static func loadSystem(
        _ environment: TLSEnvironment, into store: OpaquePointer
    ) throws(TransportError) -> Set<String> {
        defer { ERR_clear_error() }
        let (file, directory) = (environment.certificateFile, environment.certificateFolders)
        if file != nil || directory != nil {
            var places: Set<String> = []
            if let file, try read(file: file, into: store) { places.insert(file) }
            if let directory {
                try checkEntries(ofFolders: directory)
                if X509_STORE_load_path(store, directory) == 1 { places.insert(directory) }
            }
            guard !places.isEmpty else {
                throw TransportError.misconfiguredTLS(
                    "no certificates can be read from SSL_CERT_FILE or SSL_CERT_DIR (\(OpenSSLError.text()))")
            }
            return places
        }
        // From a folder whose files are named by their subjects' hashes, only the necessary files are read. Reading all
        // of them takes longer than a handshake.
        for path in usualDirectories where try isIndexed(path) && X509_STORE_load_path(store, path) == 1 {
            return [path]
        }
        for path in usualFiles where try read(file: path, into: store) { return [path] }
        for path in usualDirectories where try canOpen(path, S_IFDIR) && X509_STORE_load_path(store, path) == 1 {
            return [path]
        }
        _ = X509_STORE_set_default_paths(store)
        return []
    }

    static func load(file path: String, into store: OpaquePointer) throws(TransportError) {
        defer { ERR_clear_error() }
        guard try read(file: path, into: store) else {
            throw TransportError.misconfiguredTLS("no certificates can be read from \(path) (\(OpenSSLError.text()))")
        }
    }

    /// Returns false if no certificates can be read. Throws if reading may succeed next time.
    private static func read(file path: String, into store: OpaquePointer) throws(TransportError) -> Bool {
        guard try canOpen(path, S_IFREG) else { return false }
        if X509_STORE_load_file(store, path) == 1 { return true }
        // Another thread may have just taken the last descriptor.
        let error = ERR_peek_error()
        if lk_ERR_GET_LIB(error) == ERR_LIB_SYS { try check(lk_ERR_GET_REASON(error), path) }
        return false
    }

    /// Whether a file of this kind can be opened. OpenSSL would wait for the bytes of a pipe.
    private static func canOpen(_ path: String, _ kind: mode_t) throws(TransportError) -> Bool {
        // Opened without blocking, as it may be a pipe.
        let result = SystemCalls.open(path, O_RDONLY | O_NONBLOCK)
        guard result >= 0 else {
            try check(Int32(truncatingIfNeeded: -result), path)
            return false
        }
        let descriptor = Int32(truncatingIfNeeded: result)
        defer { SystemCalls.close(descriptor) }
        var status = stat()
        return SystemCalls.fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == kind
    }

    /// Throws if an entry of these folders is a pipe or a device. OpenSSL opens an entry when a server's certificate is
    /// verified, and would wait for its bytes. A link to `/dev/null`, which is empty, hides an authority.
    private static func checkEntries(ofFolders folders: String) throws(TransportError) {
        for folder in folders.split(separator: ":") {
            for name in try indexedNames(String(folder)) {
                let path = "\(folder)/\(name)"
                var status = stat()
                guard SystemCalls.stat(path, &status) == 0 else { continue }
                let kind = status.st_mode & S_IFMT
                let isNull = kind == S_IFCHR && status.st_rdev == nullDevice
                guard kind == S_IFREG || kind == S_IFDIR || isNull else {
                    throw TransportError.misconfiguredTLS("\(path) is no regular file")
                }
            }
        }
    }

    /// The number of `/dev/null`: 1, 3.
    private static let nullDevice: dev_t = 1 << 8 | 3

    /// Throws if the error is not the file's: the process or the machine has reached a limit.
    private static func check(_ code: Int32, _ path: String) throws(TransportError) {
        guard [EMFILE, ENFILE, ENOMEM].contains(code) else { return }
        throw TransportError(.tls, path, .systemCall(.open, errno: code))
    }

    private static func isIndexed(_ directory: String) throws(TransportError) -> Bool {
        guard try canOpen(directory, S_IFDIR) else { return false }
        return try indexedNames(directory).contains { $0.hasSuffix(".0") }
    }

    /// The names such as `5ed36f99.0` in a folder, by which OpenSSL finds its files. `openssl rehash` creates them.
    static func indexedNames(_ directory: String) throws(TransportError) -> [String] {
        guard let stream = opendir(directory) else {
            try check(errno, directory)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { $0.prefix { $0 != 0 }.map(\.self) }
            guard name.count >= 10, name[8] == UInt8(ascii: "."), name.prefix(8).allSatisfy(ASCII.isHexDigit) else {
                continue
            }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }
}
