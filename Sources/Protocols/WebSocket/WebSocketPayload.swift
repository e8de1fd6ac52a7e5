import Glibc

/// A message's bytes, in memory that grows as they arrive.
///
/// A received message does not change any more.
public final class WebSocketPayload: @unchecked Sendable {  // one owner while it changes
    /// The most memory that is allocated at once for a length that is only announced, in bytes.
    private static let trustedReserve = 1 << 20

    private var base: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    /// The number of bytes.
    public private(set) var count = 0

    deinit { free(base) }

    /// Calls `body` with the bytes, which must not be kept after the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Removes and returns the memory of the bytes. The caller owns it and must release it with `free`. The payload is
    /// empty afterwards.
    package func takeMemory() -> (base: UnsafeMutableRawPointer, count: Int)? {
        guard let base else { return nil }
        defer { (self.base, count, capacity) = (nil, 0, 0) }
        return (base, count)
    }

    // MARK: Filling

    func removeAll(keepingAtMost bytes: Int) {
        count = 0
        guard capacity > bytes else { return }
        free(base)
        (base, capacity) = (nil, 0)
    }

    /// Reserves memory for announced bytes.
    func reserve(_ more: Int) throws(WebSocketError) {
        try makeRoom(min(more, Self.trustedReserve), exactly: count == 0)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        guard !bytes.isEmpty else { return }
        try makeRoom(bytes.count)
        spare.copyMemory(from: bytes)
        count += bytes.count
    }

    /// Memory for at least `wanted` bytes, behind the current ones.
    func room(_ wanted: Int) throws(WebSocketError) -> UnsafeMutableRawBufferPointer {
        try makeRoom(wanted)
        return spare
    }

    /// Records that this number of bytes was written to ``room(_:)``.
    func filled(_ bytes: Int) { count += max(0, min(bytes, capacity - count)) }

    /// The bytes from `start` on.
    func tail(from start: Int) -> UnsafeMutableRawBufferPointer {
        let whole = UnsafeMutableRawBufferPointer(start: base, count: count)
        return UnsafeMutableRawBufferPointer(rebasing: whole[min(start, count)...])
    }

    private var spare: UnsafeMutableRawBufferPointer {
        let whole = UnsafeMutableRawBufferPointer(start: base, count: capacity)
        return UnsafeMutableRawBufferPointer(rebasing: whole[count...])
    }

    private func makeRoom(_ more: Int, exactly: Bool = false) throws(WebSocketError) {
        let (needed, overflow) = count.addingReportingOverflow(more)
        guard !overflow else { throw WebSocketError(.outOfMemory) }
        guard needed > capacity else { return }
        let size = exactly ? needed : max(needed, capacity.multipliedReportingOverflow(by: 2).partialValue, 256)
        guard let grown = realloc(base, size) else { throw WebSocketError(.outOfMemory) }
        (base, capacity) = (grown, size)
    }
}
