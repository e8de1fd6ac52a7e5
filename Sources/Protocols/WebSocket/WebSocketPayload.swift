import Glibc

/// A message's bytes, in memory that grows as they come.
///
/// A message that was received does not change any more.
public final class WebSocketPayload: @unchecked Sendable {  // of one owner until it is given away, and constant then
    /// So much memory is taken at once for a length that is only announced.
    private static let trustedReserve = 1 << 20

    private var base: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    /// How many bytes there are.
    public private(set) var count = 0

    init() {}

    deinit { free(base) }

    /// The bytes, which must not be kept beyond the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The bytes' memory, which is the caller's from now on, to be released with `free`; this is empty then.
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

    /// More is announced.
    func reserve(_ more: Int) throws(WebSocketError) {
        try makeRoom(min(more, Self.trustedReserve), exactly: count == 0)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        guard !bytes.isEmpty else { return }
        try makeRoom(bytes.count)
        spare.copyMemory(from: bytes)
        count += bytes.count
    }

    /// Memory behind the bytes, of at least so many.
    func room(_ wanted: Int) throws(WebSocketError) -> UnsafeMutableRawBufferPointer {
        try makeRoom(wanted)
        return spare
    }

    /// So many bytes were written to ``room(_:)``.
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
