import CLoadingKitOpenSSL
import Foundation
import TestSupport
import Testing

@testable import LoadingKitTransport

/// The files of authorities change while the process lives.
@Suite struct SharedTrustStoreTests {
    /// Authorities, the files that a process is given, and the store that reads them.
    private final class Site {
        let folder: TemporaryFolder
        let (one, other): (TestCertificate, TestCertificate)
        private let time = ManualTime()
        private let store: SharedTrustStore

        init() throws {
            folder = try TemporaryFolder()
            one = try TestCertificate("One", isAuthority: true)
            other = try TestCertificate("Other", isAuthority: true)
            store = SharedTrustStore(time: .manual(time), patience: .never)
        }

        var path: String { folder.file("roots.pem").path }

        /// The authorities that the store trusts after the next check, in short.
        func trusted(_ source: TrustSource) throws -> String {
            time.advance(byNanoseconds: FileChecks.interval)
            return try trustedNow(source)
        }

        func trustedNow(_ source: TrustSource) throws -> String {
            let anchors = try store.anchors(source)
            return [("one", one), ("other", other)].filter { anchors.trust($0.1) }.map(\.0).joined(separator: " ")
        }

        func checkAtNextUse() { store.checkAtNextUse() }

        func write(_ certificates: TestCertificate..., to name: String = "roots.pem") throws {
            try folder.write(certificates.flatMap(\.pem), to: name)
        }

        /// Replaces a symbolic link as `ln -sf` does.
        func link(_ name: String, to target: String) throws {
            let link = folder.file(name).path
            unlink(link)
            try #require(symlink(target, link) == 0)
        }
    }

    private enum Change: String, CaseIterable {
        case writtenInPlace, appended, replaced, linkReplaced, targetOfLinkReplaced
    }

    @Test(arguments: [true, false]) func aFileThatChanges(isOfEnvironment: Bool) throws {
        for change in Change.allCases {
            let site = try Site()
            try site.write(site.one, to: change == .linkReplaced || change == .targetOfLinkReplaced ? "a" : "roots.pem")
            if change == .linkReplaced || change == .targetOfLinkReplaced { try site.link("roots.pem", to: "a") }
            let source = isOfEnvironment ? Self.environment(file: site.path) : .file(path: site.path)
            #expect(try site.trusted(source) == "one")
            var expected = "other"
            switch change {
            case .writtenInPlace: try site.write(site.other)
            case .appended:
                let file = try FileHandle(forWritingTo: site.folder.file("roots.pem"))
                try file.seekToEnd()
                try file.write(contentsOf: site.other.pem)
                try file.close()
                expected = "one other"
            case .replaced:
                try site.write(site.other, to: "new")
                try #require(rename(site.folder.file("new").path, site.path) == 0)
            case .linkReplaced:
                try site.write(site.other, to: "b")
                try site.link("roots.pem", to: "b")
            case .targetOfLinkReplaced:
                try site.write(site.other, to: "new")
                try #require(rename(site.folder.file("new").path, site.folder.file("a").path) == 0)
            }
            // The last check was a moment ago.
            #expect(try site.trustedNow(source) == "one", "\(change)")
            #expect(try site.trusted(source) == expected, "\(change)")
        }
    }

    @Test func theNextUseChecksIfAsked() throws {
        let site = try Site()
        try site.write(site.one)
        #expect(try site.trustedNow(.file(path: site.path)) == "one")
        try site.write(site.one, site.other)
        #expect(try site.trustedNow(.file(path: site.path)) == "one")
        site.checkAtNextUse()
        #expect(try site.trustedNow(.file(path: site.path)) == "one other")
    }

    @Test func filesThatDoNotChangeAreReadOnce() throws {
        let site = try Site()
        try site.write(site.one)
        let time = ManualTime()
        let store = SharedTrustStore(time: .manual(time), patience: .never)
        let first = try store.anchors(.file(path: site.path))
        for _ in 0..<3 {
            time.advance(byNanoseconds: FileChecks.interval)
            #expect(try store.anchors(.file(path: site.path)) === first)
        }
    }

    /// As `update-ca-certificates` and `openssl rehash` do: names of hashes lead to files elsewhere.
    @Test func aFolderThatChanges() throws {
        let site = try Site()
        try site.write(site.one, to: "share/one.crt")
        try site.write(site.other, to: "share/other.crt")
        let (one, other) = (site.one.indexedName, site.other.indexedName)
        try site.write(to: "certs/README")
        try site.link("certs/\(one)", to: "../share/one.crt")
        let source = Self.environment(folders: "/nonexistent:" + site.folder.file("certs").path)
        #expect(try site.trusted(source) == "one")
        try site.link("certs/\(other)", to: "../share/other.crt")
        #expect(try site.trusted(source) == "one other")
        unlink(site.folder.file("certs/\(one)").path)
        #expect(try site.trusted(source) == "other")
        // The file to which a link leads is replaced: the folder itself does not change.
        let impostor = try TestCertificate("Other", isAuthority: true)
        try site.write(impostor, to: "share/other.crt")
        #expect(try site.trusted(source) == "")
    }

    /// OpenSSL would wait for the pipe's bytes when it looks for the authority.
    @Test(arguments: [false, true]) func aPipeInAFolder(isLinked: Bool) throws {
        let site = try Site()
        try site.write(site.one, to: "certs/\(site.one.indexedName)")
        let source = Self.environment(folders: "/nonexistent:" + site.folder.file("certs").path)
        let pipe = isLinked ? "pipe" : "certs/\(site.other.indexedName)"
        try #require(mkfifo(site.folder.file(pipe).path, 0o600) == 0)
        if isLinked { try site.link("certs/\(site.other.indexedName)", to: "../pipe") }
        #expect(throws: TransportError.self) { try source.read().places }
        unlink(site.folder.file(pipe).path)
        #expect(try site.trusted(source) == "one")
    }

    /// A link to `/dev/null` hides an authority; another device would give bytes without end.
    @Test(arguments: [("/dev/null", true), ("/dev/zero", false)])
    func aDeviceInAFolder(device: String, isAccepted: Bool) throws {
        let site = try Site()
        try site.write(site.one, to: "certs/\(site.one.indexedName)")
        let source = Self.environment(folders: site.folder.file("certs").path)
        try site.link("certs/\(site.other.indexedName)", to: device)
        guard isAccepted else {
            #expect(throws: TransportError.self) { try source.read().places }
            return
        }
        #expect(try site.trusted(source) == "one")
    }

    /// A file that is half written, or away for a moment, takes no authority away.
    @Test(arguments: ["", "half", "missing"]) func aFileThatCannotBeRead(state: String) throws {
        let site = try Site()
        try site.write(site.one)
        let source = TrustSource.file(path: site.path)
        #expect(try site.trusted(source) == "one")
        switch state {
        case "missing": unlink(site.path)
        case "half": try site.folder.write(site.other.pem.prefix(200), to: "roots.pem")
        case _: try site.write()
        }
        for _ in 0..<3 { #expect(try site.trusted(source) == "one") }
        try site.write(site.other)
        #expect(try site.trusted(source) == "other")
    }

    @Test func aFileThatCannotBeOpenedNow() throws {
        let site = try Site()
        try site.write(site.one)
        let source = TrustSource.file(path: site.path)
        #expect(try site.trusted(source) == "one")
        try site.write(site.other)
        let meanwhile = try FaultPlan(.open, .from(1), .fail(EMFILE)).run { try site.trusted(source) }
        #expect(meanwhile == "one")
        #expect(try site.trusted(source) == "other")
    }

    /// One of two places is away: for the moment, or for good.
    @Test func aPlaceThatIsGone() throws {
        let site = try Site()
        try site.write(site.one)
        try site.write(site.other, to: "certs/\(site.other.indexedName)")
        let source = Self.environment(file: site.path, folders: site.folder.file("certs").path)
        #expect(try site.trusted(source) == "one other")
        unlink(site.path)
        #expect(try site.trusted(source) == "one other")
        #expect(try site.trusted(source) == "other")
        try site.write(site.one)
        #expect(try site.trusted(source) == "one other")
    }

    @Test func aFileThatWasNeverThere() throws {
        let site = try Site()
        let source = TrustSource.file(path: site.path)
        #expect(throws: TransportError.self) { try site.trustedNow(source) }
        try site.write(site.one)
        // A failure is not kept.
        #expect(try site.trustedNow(source) == "one")
    }

    @Test func contextsOfChangedFilesAreNotCurrent() throws {
        let site = try Site()
        try site.write(site.one)
        var options = TLSOptions()
        let sources: [(inout TLSOptions) -> Void] = [
            { $0.trustRoots = .file(path: site.path) },
            { $0.environment.certificateFile = site.path },
            {
                $0.trustRoots = .file(path: site.path)
                $0.additionalRoots = site.other.pem
            },
        ]
        for change in sources {
            options = TLSOptions()
            change(&options)
            try site.write(site.one)
            SharedTrustStore.ofProcess.checkAtNextUse()
            let context = try TLSContext(options)
            #expect(context.isCurrent)
            try site.write(site.other)
            SharedTrustStore.ofProcess.checkAtNextUse()
            #expect(!context.isCurrent)
            #expect(try TLSContext(options).isCurrent)
        }
        options.trustRoots = .pem(site.one.pem)
        #expect(try TLSContext(options).isCurrent)
    }

    private static func environment(file: String? = nil, folders: String? = nil) -> TrustSource {
        var environment = TLSEnvironment()
        (environment.certificateFile, environment.certificateFolders) = (file, folders)
        return TrustSource(environment)
    }
}

extension TrustAnchors {
    /// Whether one of the authorities is this one.
    fileprivate func trust(_ authority: TestCertificate) -> Bool {
        guard let context = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, store, authority.certificate, nil) == 1 else { return false }
        return X509_verify_cert(context) == 1
    }
}

extension TestCertificate {
    /// The name by which OpenSSL finds the certificate in a folder.
    fileprivate var indexedName: String {
        let hash = String(X509_NAME_hash_ex(X509_get_subject_name(certificate), nil, nil, nil), radix: 16)
        return String(repeating: "0", count: 8 - hash.count) + hash + ".0"
    }
}
