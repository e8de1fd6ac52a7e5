import Foundation
import LoadingKit
import LoadingKitArchives
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Archives by Python's zipfile and by Info-ZIP, from nginx.
@Suite(.usesPeers, .timeLimit(.minutes(5))) struct ToolArchiveTests {
    private static let python = """
        import zipfile, random, sys
        random.seed(1)
        big = random.randbytes(200_000)
        def write(path, **options):
            with zipfile.ZipFile(path, "w", **options) as archive:
                archive.comment = b"PK\\5\\6 a comment PK\\5\\6"
                archive.writestr("text.txt", "hello " * 5000, zipfile.ZIP_DEFLATED)
                archive.writestr("big.bin", big, zipfile.ZIP_STORED)
                archive.writestr("gr\\u00fc\\u00dfe/\\u2603.txt", "snow", zipfile.ZIP_DEFLATED)
                archive.writestr("lzma.txt", "no", zipfile.ZIP_LZMA)
                with archive.open("zip64.txt", "w", force_zip64=True) as member: member.write(b"sixty-four" * 100)
        write("python.zip")
        class Stream:
            def __init__(self, file): self.file = file
            def write(self, data): return self.file.write(data)
            def flush(self): self.file.flush()
        with open("described.zip", "wb") as file:
            with zipfile.ZipFile(Stream(file), "w") as archive:
                archive.writestr("text.txt", "hello " * 5000, zipfile.ZIP_DEFLATED)
                archive.writestr("big.bin", big, zipfile.ZIP_STORED)
        open("sfx.zip", "wb").write(b"#!/bin/sh\\n" * 1000 + open("python.zip", "rb").read())
        open("big.bin", "wb").write(big)
        with zipfile.ZipFile("many.zip", "w") as archive:
            for number in range(70_000): archive.writestr(f"{number}", str(number))
        """

    private struct Site {
        let server: NginxServer
        let session = makeSession()

        init() throws { server = try NginxServer() }

        func url(_ archive: String, _ member: String = "") throws -> URL {
            let file = try #require(URL(string: server.url("/\(archive)")))
            return try #require(ArchiveURL(archive: file, member: member).url)
        }

        func text(_ archive: String, _ member: String) async throws -> String {
            String(decoding: try await session.load(try url(archive, member)).0, as: UTF8.self)
        }

        func listing(_ archive: String) async throws -> ArchiveListing {
            let json = try await session.load(try url(archive)).0
            return try JSONDecoder().decode(ArchiveListing.self, from: json)
        }
    }

    @Test func pythonsZipfile() async throws {
        let site = try Site()
        try await run("python3", ["-c", Self.python], in: site.server.root.path)
        let big = try Data(contentsOf: site.server.root.appendingPathComponent("big.bin"))
        let hello = String(repeating: "hello ", count: 5000)
        for archive in ["python.zip", "sfx.zip"] {
            #expect(try await site.text(archive, "text.txt") == hello)
            #expect(try await site.session.load(try site.url(archive, "big.bin")).0 == big)
            #expect(try await site.text(archive, "grüße/☃.txt") == "snow")
            #expect(try await site.text(archive, "zip64.txt") == String(repeating: "sixty-four", count: 100))
            #expect(
                await site.session.archiveError(try site.url(archive, "lzma.txt"))
                    == .unsupportedCompression(member: "lzma.txt", method: 14))
            #expect(
                try await site.listing(archive).members.map(\.name)
                    == ["text.txt", "big.bin", "grüße/☃.txt", "lzma.txt", "zip64.txt"])
        }
        // With data descriptors, as the archive was written to a stream.
        #expect(try await site.text("described.zip", "text.txt") == hello)
        #expect(try await site.session.load(try site.url("described.zip", "big.bin")).0 == big)
        // More members than the directory's end can count without zip64.
        #expect(try await site.text("many.zip", "69999") == "69999")
        #expect(try await site.listing("many.zip").members.count == 70_000)
    }

    @Test func infoZIP() async throws {
        let site = try Site()
        let root = site.server.root.path
        let folder = site.server.root.appendingPathComponent("in")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = String(repeating: "some text ", count: 3000)
        try Data(text.utf8).write(to: folder.appendingPathComponent("text.txt"))
        try Data("snow".utf8).write(to: folder.appendingPathComponent("grüße.txt"))
        try Data(noise(100_000)).write(to: folder.appendingPathComponent("noise.bin"))
        let shell = """
            zip -q -r plain.zip in && zip -q -0 -r stored.zip in && zip -q -r -P secret encrypted.zip in
            cat in/text.txt | zip -q -fz stream64.zip - && (zip -q -r - in | cat > piped.zip)
            cat in/text.txt | zip -q stdin.zip -
            """
        try await run("zip", ["-v"], in: root)
        try await run("bash", ["-ec", shell], in: root)
        for archive in ["plain.zip", "stored.zip", "piped.zip"] {
            #expect(try await site.text(archive, "in/text.txt") == text)
            #expect(try await site.text(archive, "in/grüße.txt") == "snow", "\(archive)")
            #expect(try await site.session.load(try site.url(archive, "in/noise.bin")).0 == Data(noise(100_000)))
            let listing = try await site.listing(archive)
            #expect(Set(listing.members.map(\.name)) == ["in/", "in/text.txt", "in/grüße.txt", "in/noise.bin"])
        }
        for archive in ["stream64.zip", "stdin.zip"] {
            #expect(try await site.text(archive, "-") == text, "\(archive)")
        }
        let refusal = await site.session.archiveError(try site.url("encrypted.zip", "in/text.txt"))
        #expect(refusal == .encrypted("in/text.txt"))
        // The time of the extended timestamp is that of the file.
        let (_, response) = try await site.session.load(try site.url("plain.zip", "in/text.txt"))
        let file = folder.appendingPathComponent("text.txt").path
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        let modified = try #require(attributes[.modificationDate] as? Date).timeIntervalSince1970.rounded(.down)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        #expect(response.field("Last-Modified") == format.string(from: Date(timeIntervalSince1970: modified)))
    }

    /// One member of 20 KB out of an archive of 200 MB, counted on the way between the session and nginx.
    @Test func whatIsTransferred() async throws {
        let site = try Site()
        let program = """
            import zipfile, random
            random.seed(2)
            block = random.randbytes(10_000_000)
            with zipfile.ZipFile("large.zip", "w") as archive:
                for number in range(20): archive.writestr(f"data/block-{number}.bin", block)
                for number in range(600): archive.writestr(f"package/module_{number}.py", f"print({number})")
                archive.writestr("package/member.bin", block[:20_000], zipfile.ZIP_DEFLATED)
            """
        try await run("python3", ["-c", program], in: site.server.root.path)
        let relay = try CountingRelay(to: .ipv4(port: site.server.httpPort))
        defer { relay.stop() }
        let archive = try #require(URL(string: "http://127.0.0.1:\(relay.port)/large.zip"))
        let url = try #require(ArchiveURL(archive: archive, member: "package/member.bin").url)
        let cold = try await site.session.load(url).0
        #expect(cold.count == 20_000)
        let first = relay.counts.value
        #expect(first.requests <= 4 && first.bytes <= 100_000, "\(first)")
        #expect(try await site.session.load(url).0 == cold)
        let both = relay.counts.value
        let warm = CountingRelay.Counts(requests: both.requests - first.requests, bytes: both.bytes - first.bytes)
        #expect(warm.requests <= 2 && warm.bytes <= 100_000, "\(warm)")
    }
}

/// Forwards the bytes between a client and a server, and counts them, and requests without bodies.
final class CountingRelay: Sendable {
    struct Counts: Sendable {
        var requests = 0
        var bytes = 0
    }

    let counts = Box(Counts())
    let port: UInt16
    private let acceptor: ConnectionAcceptor

    init(to server: LoopbackAddress) throws {
        let counts = counts
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: Signal()) { client, _ in
            guard let server = try? StreamSocket(connectingTo: server) else { return }
            let worker = try? WorkerThread {
                while let bytes = try? client.read(), !bytes.isEmpty {
                    let heads = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n").count - 1
                    counts.update {
                        $0.bytes += bytes.count
                        $0.requests += heads
                    }
                    guard (try? server.write(bytes)) != nil else { break }
                }
                server.interrupt()
            }
            while let bytes = try? server.read(), !bytes.isEmpty {
                counts.update { $0.bytes += bytes.count }
                guard (try? client.write(bytes)) != nil else { break }
            }
            server.interrupt()
            client.interrupt()
            worker?.join()
            server.close()
        }
        port = acceptor.address.port ?? 0
    }

    func stop() { acceptor.stop() }
}
