import Foundation
import Glibc

/// Collects a response's body, without copying it again at the end.
struct BodyCollector: ~Copyable {
    /// The largest number of bytes reserved for an announced length; more memory is allocated as the bytes arrive.
    private static let trustedExpectation = 64 << 20

    /// The number of bytes read at once where many are expected.
    private static let readBytes = 256 << 10

    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private var count = 0
    /// The number of bytes collected up to now.
    var size: Int { single?.count ?? count }
    /// The only piece up to now, not copied.
    private var single: Data?
    private var expected = 0
    private var pages = PagesAhead()

    deinit { free(base) }

    /// Sets the number of bytes that the response's head announced.
    mutating func expect(_ count: Int64) {
        expected = Int(clamping: min(max(count, 0), Int64(Self.trustedExpectation)))
    }

    /// Memory for the next bytes; nil when the system has none.
    mutating func space(atMost wanted: Int) -> UnsafeMutableRawBufferPointer? {
        guard flattenSingle() else { return nil }
        let room = max(1, min(wanted, max(expected - count, 16 * 1024)))
        guard reserve(room), let base else { return nil }
        let end = pages.provide(base, upTo: min(count + Self.readBytes, capacity), of: capacity)
        return UnsafeMutableRawBufferPointer(start: base + count, count: min(wanted, end - count))
    }

    /// Counts bytes that were written to the memory from `space`.
    mutating func filled(_ count: Int) { self.count += min(count, capacity - self.count) }

    /// Appends a copy; false when the system has no memory.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
        guard flattenSingle(), reserve(bytes.count), let base else { return false }
        pages.provide(base, upTo: count + bytes.count, of: capacity)
        memcpy(base + count, source, bytes.count)
        count += bytes.count
        return true
    }

    /// Appends a piece; the first is kept without copying. False when the system has no memory.
    mutating func append(_ data: Data) -> Bool {
        if count == 0 && base == nil && single == nil {
            single = data
            return true
        }
        return data.withUnsafeBytes { append($0) }
    }

    /// Returns all collected bytes; the collector is then empty.
    mutating func take() -> Data {
        defer {
            base = nil
            capacity = 0
            count = 0
            single = nil
            pages = PagesAhead()
        }
        if let single { return single }
        guard let base else { return Data() }
        guard count > 0 else {
            free(base)
            return Data()
        }
        return Data(bytesNoCopy: base, count: count, deallocator: .free)
    }

    private mutating func flattenSingle() -> Bool {
        guard let data = single else { return true }
        single = nil
        return data.withUnsafeBytes { append($0) }
    }

    private mutating func reserve(_ room: Int) -> Bool {
        let (needed, overflow) = count.addingReportingOverflow(room)
        guard !overflow else { return false }
        if needed <= capacity { return true }
        let grown = max(needed, capacity == 0 ? expected : capacity &+ capacity / 2)
        guard let moved = realloc(base, grown) else { return false }
        base = moved
        capacity = grown
        return true
    }
}

/// Has the system provide the pages of a large memory block in groups, before they are first written: one call for a
/// group costs less than a page fault for each page. Where the system does not support this, nothing changes.
struct PagesAhead {
    /// The size in bytes from which a block is worth a call.
    private static let smallestBlock = 1 << 20
    /// The number of bytes that one call provides, and the largest memory cost of announced bytes that a peer does not
    /// send.
    private static let step = 512 << 10
    private static let pageSize = UInt(max(sysconf(Int32(_SC_PAGESIZE)), 1))

    /// The size of the provided part of the block, in bytes from its start.
    private var end = 0

    /// Prepares for bytes up to `needed` to be written; returns the end of the provided part, which may be larger.
    @discardableResult
    mutating func provide(_ block: UnsafeMutableRawPointer, upTo needed: Int, of capacity: Int) -> Int {
        guard capacity >= Self.smallestBlock else { return capacity }
        if needed > end { provideMore(block, needed, capacity) }
        return end
    }

    private mutating func provideMore(_ block: UnsafeMutableRawPointer, _ needed: Int, _ capacity: Int) {
        let (start, stop) = (max(end, needed - Self.step), min(capacity, max(needed, end + Self.step)))
        end = stop
        let first = (UInt(bitPattern: block) + UInt(start)) / Self.pageSize * Self.pageSize
        let last = (UInt(bitPattern: block) + UInt(stop)) / Self.pageSize * Self.pageSize
        guard last > first, let pages = UnsafeMutableRawPointer(bitPattern: first) else { return }
        _ = madvise(pages, Int(last - first), MADV_POPULATE_WRITE)
    }
}
