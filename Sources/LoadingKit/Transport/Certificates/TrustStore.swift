import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives

/// The authorities against which certificates are verified.
enum TrustStore {
    /// The files in which the distributions store the authorities' certificates.
    private static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, Red Hat, Amazon Linux
        "/etc/ssl/ca-bundle.pem",  // SUSE
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
    private static let usualDirectories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

    static func install(_ options: TLSOptions, in context: OpaquePointer) throws(TransportError) {
        switch options.trustRoots {
        case .system:
            if !options.verifiesPeer { return }
            if options.additionalRoots.isEmpty {
                // Reading the store takes milliseconds, and it does not change afterwards, so contexts share it.
                SSL_CTX_set1_cert_store(context, try SharedSystemStore.anchors(options.environment).store)
                return
            }
            try loadSystem(options.environment, into: try store(of: context))
        case .file(let path):
            guard try read(file: path, into: try store(of: context)) else {
                throw TransportError.misconfiguredTLS(
                    "no certificates can be read from \(path) (\(OpenSSLError.text()))")
            }
        case .pem(let text): try add(text, to: try store(of: context))
        }
        if !options.additionalRoots.isEmpty { try add(options.additionalRoots, to: try store(of: context)) }
        allowPartialChains(try store(of: context))
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
        while let certificate = PEM_read_bio_X509_AUX(bio, nil, nil, nil) {
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

    /// Loads the files and folders that the environment names, otherwise the usual ones, otherwise OpenSSL's defaults.
    ///
    /// The result is kept for the life of the process. A file that only temporarily cannot be read is therefore a
    /// failure, and is not skipped.
    static func loadSystem(
        _ environment: TLSEnvironment, into store: OpaquePointer
    ) throws(TransportError) {
        defer { ERR_clear_error() }
        let (file, directory) = (environment.certificateFile, environment.certificateFolders)
        if file != nil || directory != nil {
            let readsFile = try file.map { path throws(TransportError) in try read(file: path, into: store) } ?? false
            let readsDirectory = directory.map { X509_STORE_load_path(store, $0) == 1 } ?? false
            guard readsFile || readsDirectory else {
                throw TransportError.misconfiguredTLS(
                    "no certificates can be read from SSL_CERT_FILE or SSL_CERT_DIR (\(OpenSSLError.text()))")
            }
            return
        }
        // From a folder whose files are named by their subjects' hashes, only the necessary files are read. Reading all
        // of them takes longer than a handshake.
        for path in usualDirectories where try isIndexed(path) && X509_STORE_load_path(store, path) == 1 { return }
        for path in usualFiles where try read(file: path, into: store) { return }
        for path in usualDirectories where try canOpen(path) && X509_STORE_load_path(store, path) == 1 { return }
        _ = X509_STORE_set_default_paths(store)
    }

    /// Returns false if no certificates can be read. Throws if reading may succeed next time.
    private static func read(file path: String, into store: OpaquePointer) throws(TransportError) -> Bool {
        guard try canOpen(path) else { return false }
        if X509_STORE_load_file(store, path) == 1 { return true }
        // Another thread may have just taken the last descriptor.
        let error = ERR_peek_error()
        if lk_ERR_GET_LIB(error) == ERR_LIB_SYS { try check(lk_ERR_GET_REASON(error), path) }
        return false
    }

    private static func canOpen(_ path: String) throws(TransportError) -> Bool {
        let descriptor = SystemCalls.open(path, O_RDONLY)
        guard descriptor >= 0 else {
            try check(Int32(truncatingIfNeeded: -descriptor), path)
            return false
        }
        SystemCalls.close(Int32(truncatingIfNeeded: descriptor))
        return true
    }

    /// Throws if the error is not the file's: the process or the machine has reached a limit.
    private static func check(_ code: Int32, _ path: String) throws(TransportError) {
        guard [EMFILE, ENFILE, ENOMEM].contains(code) else { return }
        throw TransportError(.tls, path, .systemCall(.open, errno: code))
    }

    /// Whether a folder contains names such as `5ed36f99.0`, which `openssl rehash` creates.
    private static func isIndexed(_ directory: String) throws(TransportError) -> Bool {
        guard try canOpen(directory) else { return false }
        guard let stream = opendir(directory) else {
            try check(errno, directory)
            return false
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { $0.prefix { $0 != 0 }.map(\.self) }
            if name.count == 10, name[8...].elementsEqual(".0".utf8), name.prefix(8).allSatisfy(ASCII.isHexDigit) {
                return true
            }
        }
        return false
    }
}

/// The system's authorities, or the ones that an environment names instead. They are read on first use.
enum SharedSystemStore {
    /// The number of environments. A process that performs other programs' transfers has several.
    private static let limit = 16
    private static let shared = Guarded<[TLSEnvironment: TrustAnchors]>([:])

    static func anchors(_ environment: TLSEnvironment) throws(TransportError) -> TrustAnchors {
        var environment = environment
        environment.keyLogFile = nil
        return try shared.withLock { [environment] shared -> Result<TrustAnchors, TransportError> in
            if let known = shared[environment] { return .success(known) }
            do throws(TransportError) {
                let anchors = try read(environment)
                if shared.count >= limit { shared = [:] }
                shared[environment] = anchors
                return .success(anchors)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func read(_ environment: TLSEnvironment) throws(TransportError) -> TrustAnchors {
        guard let store = X509_STORE_new() else { throw TransportError.misconfiguredTLS(OpenSSLError.text()) }
        defer { X509_STORE_free(store) }
        try TrustStore.loadSystem(environment, into: store)
        TrustStore.allowPartialChains(store)
        guard let anchors = TrustAnchors(sharing: store) else {
            throw TransportError.misconfiguredTLS("no trust store")
        }
        return anchors
    }
}
