/// The files and folders from which authorities are read.
enum TrustSource: Hashable, Sendable {
    /// The system's, or those that the environment names instead.
    case system(TLSEnvironment)
    /// A file that replaces the system's.
    case file(path: String)

    init(_ environment: TLSEnvironment) {
        var environment = environment
        environment.keyLogFile = nil
        self = .system(environment)
    }

    /// Reads the authorities.
    ///
    /// - Returns: The file and the folders that were read.
    @discardableResult
    func read(into store: OpaquePointer) throws(TransportError) -> Set<String> {
        switch self {
        case .system(let environment): return try TrustStore.loadSystem(environment, into: store)
        case .file(let path):
            try TrustStore.load(file: path, into: store)
            return [path]
        }
    }

    /// Changes when a file is written, replaced, added or removed; in a folder, one that OpenSSL would read.
    var version: Int {
        var hasher = Hasher()
        func note(_ path: String) {
            hasher.combine(path)
            hasher.combine(FileVersion(path: path))
        }
        for file in files { note(file) }
        for folder in folders {
            note(folder)
            for name in ((try? TrustStore.indexedNames(folder)) ?? []).sorted() { note("\(folder)/\(name)") }
        }
        return hasher.finalize()
    }

    private var files: [String] {
        switch self {
        case .system(let environment):
            environment.namesAuthorities
                ? environment.certificateFile.map { [$0] } ?? [] : TrustStore.usualFiles
        case .file(let path): [path]
        }
    }

    private var folders: [String] {
        switch self {
        case .system(let environment):
            environment.namesAuthorities
                ? environment.certificateFolders?.split(separator: ":").map(String.init) ?? []
                : TrustStore.usualDirectories
        case .file: []
        }
    }
}

extension TLSEnvironment {
    fileprivate var namesAuthorities: Bool { certificateFile != nil || certificateFolders != nil }
}

extension TLSOptions {
    /// The files of the authorities; nil if they are text.
    var trustSource: TrustSource? {
        switch trustRoots {
        case .system: TrustSource(environment)
        case .file(let path): .file(path: path)
        case .pem: nil
        }
    }
}
