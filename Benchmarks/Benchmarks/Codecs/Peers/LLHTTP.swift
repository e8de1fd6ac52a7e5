import CPeers

/// One side of a connection read by llhttp, Node's parser, which calls back for each name, value and piece of a body.
final class LLHTTP {
    static let name = "llhttp"

    enum Kind { case requests, responses, responsesToHEAD }

    private let reader: OpaquePointer

    init(_ kind: Kind) throws {
        guard let reader = peers_llhttp_new(kind == .requests ? 1 : 0, kind == .responsesToHEAD ? 0 : 1) else {
            throw PeerError(Self.name, 0)
        }
        self.reader = reader
    }

    deinit { peers_llhttp_free(reader) }

    func read(_ bytes: UnsafeRawBufferPointer) throws {
        let code = peers_llhttp_read(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        guard code == 0 else { throw PeerError(Self.name, Int(code)) }
    }

    /// What has been read up to now.
    var counts: peers_llhttp_counts { peers_llhttp_counts(reader) }
}
