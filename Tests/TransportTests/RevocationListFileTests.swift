import Foundation
import LoadingKitTransport
import TestSupport
import Testing

/// Files that cannot have lists of revoked certificates, and that a loop would wait for, or fill the memory with.
@Suite struct RevocationListFileTests {
    private static func failure(_ path: String) -> String {
        var options = TLSOptions()
        options.verifiesPeer = false
        options.revocationLists = [.file(path: path)]
        do throws(TransportError) {
            _ = try TLSContext(options)
            return "none"
        } catch {
            return error.cause.description
        }
    }

    @Test func aFileThatIsTooLong() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "long.crl")
        let size = (64 << 20) + 1
        try #require(truncate(file.path, size) == 0)
        #expect(Self.failure(file.path).contains("has \(size) bytes"))
        // Its bytes are read, and are no list.
        try #require(truncate(file.path, 100) == 0)
        #expect(Self.failure(file.path).contains("malformed"))
    }

    @Test func whatIsNoRegularFile() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero"] {
            #expect(Self.failure(path).contains("no regular file"), "\(path)")
        }
        #expect(Self.failure(folder.file("missing").path).contains("cannot be read"))
    }
}
