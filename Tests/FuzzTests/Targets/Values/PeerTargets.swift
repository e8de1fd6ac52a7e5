import Foundation
import LoadingKitPrimitives

@testable import LoadingKitProxies
@testable import LoadingKitS3

/// Answers of proxies and of Amazon's services.
enum PeerTargets {
    static let all = [
        FuzzTarget("proxy-replies", proxyReplies), FuzzTarget("s3-answers", answers),
        FuzzTarget("s3-signatures", signatures),
    ]

    /// The bytes of a proxy, whole and in pieces, as far as its tunnel is not open.
    @Sendable private static func proxyReplies(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let bytes = input.rest()
        let host = ["a.example", "127.0.0.1", "::1"][Int(choices >> 4) % 3]
        let destination = TunnelDestination(host: host, port: 443)
        let credential = choices & 8 == 0 ? nil : Proxy.Credential(user: "u", password: "p")
        func run(_ pieces: [[UInt8]]) -> [String] {
            switch choices & 3 {
            case 0: steps(ConnectHandshake(destination, userAgent: "a", authorization: nil), pieces)
            case 1: steps(SOCKS4Handshake(destination, credential), pieces)
            default: steps(SOCKS5Handshake(destination, credential), pieces)
            }
        }
        let whole = run([bytes])
        let divided = run(cuts.pieces(of: bytes))
        // A proxy that sends more than its answer is refused only where both come together.
        let isOpen = divided.last == "established" || divided.last == "challenged"
        try require(isOpen || isSame(whole, divided), "\(whole), in pieces \(divided)")
    }

    /// Bytes behind an answer are read when more come, so that of a proxy that does not wait for questions, fewer answers
    /// may be read.
    private static func isSame(_ whole: [String], _ divided: [String]) -> Bool {
        let isUnread = whole.last == "needs more" || whole.last?.hasPrefix("send") == true
        return whole == divided || whole.last?.hasPrefix("malformed") == true
            || isUnread && divided.starts(with: whole.filter { $0 != "needs more" })
    }

    private static func steps(_ handshake: some TunnelHandshake, _ pieces: [[UInt8]]) -> [String] {
        var handshake = handshake
        var steps: [String] = []
        var needsMore = false
        do throws(ProxyError.Cause) {
            _ = try handshake.begin()
            for piece in pieces {
                let step = try piece.withBytes { (bytes) throws(ProxyError.Cause) in try handshake.receive(bytes) }
                needsMore = false
                switch step {
                case .needsMore: needsMore = true
                case .send(let bytes): steps.append("send \(bytes)")
                case .challenged: return steps + ["challenged"]
                case .established: return steps + ["established"]
                }
            }
        } catch {
            return steps + ["\(error)"]
        }
        return needsMore ? steps + ["needs more"] : steps
    }

    @Sendable private static func answers(_ input: inout FuzzInput) throws {
        let bytes = Data(input.rest())
        let answer = S3Answer(status: 400, fields: [:], body: bytes)
        _ = S3Error(answer, try S3Address(bucket: "bucket", key: "k"))
        if let document = answer.document { _ = try? ListPage(document, bucket: "bucket") }
        do throws(ProfileFile.ParseError) {
            _ = try ProfileFile(String(decoding: bytes, as: UTF8.self), .config)
        } catch {}
        do { _ = try CredentialsDocument.credentials(bytes, source: "s") } catch is S3CredentialsError {}
        _ = AmazonDate.parse(extended: String(decoding: bytes, as: UTF8.self))
    }

    /// The query's items are in the signature however they are ordered.
    @Sendable private static func signatures(_ input: inout FuzzInput) throws {
        let signer = SignatureV4(
            credentials: S3Credentials(accessKeyID: "a", secretAccessKey: "s"), region: "r",
            date: Date(timeIntervalSince1970: 1_700_000_000))
        let lines = input.rest().split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let query = CanonicalRequest.QueryItem.items(of: lines.first ?? "")
        let written = CanonicalRequest.QueryItem.query(query)
        try requireEqual(CanonicalRequest.QueryItem.items(of: written), query, "items, and the same items read again")
        var request = CanonicalRequest(
            method: "GET", path: "/", query: query,
            fields: lines.dropFirst().map { CanonicalRequest.Field("x-a", $0) }, payload: "UNSIGNED-PAYLOAD")
        let signature = signer.signature(of: request)
        try require(signature.utf8.count == 64, "the signature is \(signature)")
        request.query.reverse()
        try requireEqual(signer.signature(of: request), signature, "signatures of items in two orders")
    }
}
