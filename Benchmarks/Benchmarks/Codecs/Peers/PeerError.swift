/// A peer refused its input.
struct PeerError: Error, CustomStringConvertible {
    let description: String

    init(_ peer: String, _ code: Int) { description = "\(peer) failed with \(code)" }
}
