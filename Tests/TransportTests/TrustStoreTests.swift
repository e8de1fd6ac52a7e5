import CLoadingKitOpenSSL
import Foundation
import TestSupport
import Testing

@testable import LoadingKitTransport

@Suite struct TrustStoreTests {
    /// What is read of the system's authorities is kept while its files do not change. Where a file could not be opened for
    /// want of descriptors the next place would be read instead, or none.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func limitsThatAreReachedAreFailures(code: Int32) throws {
        let store = try #require(X509_STORE_new())
        defer { X509_STORE_free(store) }
        let error = FaultPlan(.open, .from(1), .fail(code)).run {
            #expect(throws: TransportError.self) { try TrustStore.loadSystem(TLSEnvironment(), into: store) }
        }
        #expect(error?.cause == .systemCall(.open, errno: code))
        try TrustStore.loadSystem(TLSEnvironment(), into: store)
    }

    /// Nobody is asked for the password of encrypted PEM, neither at a terminal nor through the standard input.
    @Test func thePasswordOfEncryptedAuthoritiesIsNotAskedFor() throws {
        var options = TLSOptions()
        options.trustRoots = .pem(
            Array(
                """
                -----BEGIN CERTIFICATE-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
                -----END CERTIFICATE-----

                """.utf8))
        let error = #expect(throws: TransportError.self) { try TLSContext(options) }
        guard case .configuration(let text)? = error?.cause else {
            Issue.record("\(String(describing: error))")
            return
        }
        // OpenSSL's own function would fail to read a password, or to use the one that it has read.
        #expect(text.contains("bad password read"))
    }

    @Test func aFileThatCannotBeOpenedNowIsSaidSo() throws {
        var options = TLSOptions()
        options.trustRoots = .file(path: "/etc/hosts")
        let error = FaultPlan(.open, .nth(1), .fail(EMFILE)).run {
            #expect(throws: TransportError.self) { try TLSContext(options) }
        }
        #expect(error?.cause == .systemCall(.open, errno: EMFILE))
        // A file without certificates is another matter.
        let other = #expect(throws: TransportError.self) { try TLSContext(options) }
        guard case .configuration? = other?.cause else {
            Issue.record("\(String(describing: other))")
            return
        }
    }

    /// A loop would wait for a pipe's writer, and read a device for ever.
    @Test func whatIsNoRegularFileIsNotRead() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero"] {
            var (file, variable) = (TLSOptions(), TLSOptions())
            file.trustRoots = .file(path: path)
            variable.environment = TLSEnvironment { $0 == "SSL_CERT_FILE" ? path : nil }
            for options in [file, variable] {
                let error = #expect(throws: TransportError.self) { try TLSContext(options) }
                #expect(error?.cause.description.contains("no certificates can be read") == true, "\(path)")
            }
        }
        #expect(KeyLog.open(pipe) == nil)
    }

    /// The reader of `SSLKEYLOGFILE` may end before the program, which the signal would end.
    @Test func aPipeOfKeysWhoseReaderHasEndedRaisesNoSIGPIPE() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = Int32(SystemCalls.open(pipe, O_RDONLY | O_NONBLOCK))
        try #require(reader >= 0)
        let log = try #require(KeyLog.open(pipe))
        log.append("key")
        var bytes = [UInt8](repeating: 0, count: 10)
        let count = bytes.withUnsafeMutableBytes { SystemCalls.read(reader, $0) }
        #expect(bytes.prefix(max(count, 0)) == Array("key\n".utf8)[...])
        // A blocked signal stays pending.
        var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        SystemCalls.close(reader)
        log.append("lost")
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
        // It would end the process.
        var taken: Int32 = 0
        if sigismember(&pending, SIGPIPE) == 1 { sigwait(&signals, &taken) }
    }
}
