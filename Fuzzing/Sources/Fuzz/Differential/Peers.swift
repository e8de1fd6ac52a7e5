import CPeers

extension peer_bytes {
    /// Copies the bytes, and frees them.
    func take() -> [UInt8] {
        defer { bytes?.deallocate() }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

/// Targets that compare results with those of other implementations.
enum DifferentialTargets {
    static let all = InflateComparison.all + HPACKComparison.all + LLHTTPComparison.all
}
