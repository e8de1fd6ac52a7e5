import Benchmark
import CPeers
import LoadingKitHTTP1

/// HTTP/1.1 heads against picohttpparser, which validates and recognises less, and llhttp.
enum ParserBenchmarks {
    static func register() {
        for (name, head) in [("240 B", Heads.nginx), ("1,085 B", Heads.network), ("30 fields", Heads.cookies)] {
            let reader = Reader(head)
            Pair(name: "parser: response head \(name), picohttpparser", ours: reader.read, peer: { phr(head) })
                .register()
            Pair(name: "parser: response head \(name), llhttp", ours: reader.read, peer: { llhttp(head) }).register()
        }
    }

    /// Reads the same response again and again, as they come on a connection that is kept open.
    private final class Reader {
        private let head: [UInt8]
        private var parser = ResponseParser()

        init(_ head: [UInt8]) {
            self.head = head
            parser.expect(method: "HEAD")
        }

        func read() {
            head.withUnsafeBytes { bytes in
                var position = 0
                while let event = try? parser.next(bytes, &position) { blackHole(event) }
            }
        }
    }

    static func phr(_ head: [UInt8]) {
        head.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: phr_header.self, capacity: 100) { headers in
                var (version, status, count, length) = (Int32(0), Int32(0), 100, 0)
                var message: UnsafePointer<CChar>?
                let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                blackHole(
                    phr_parse_response(
                        base, bytes.count, &version, &status, &message, &length, headers.baseAddress, &count, 0))
            }
        }
    }

    static func llhttp(_ head: [UInt8]) {
        head.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            blackHole(peers_llhttp_response(base, bytes.count))
        }
    }
}
