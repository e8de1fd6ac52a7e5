extension HTTPFields {
    /// The memory of fields, in one block: their entries, followed by the bytes to which the entries refer.
    ///
    /// There may be other bytes between those of the fields. The storage is only changed while a single ``HTTPFields``
    /// refers to it.
    @usableFromInline
    final class Storage: ManagedBuffer<Storage.Header, UInt32> {
        @usableFromInline
        struct Header {
            /// The numbers of entries and bytes.
            @usableFromInline var count = 0
            @usableFromInline var byteCount = 0
            /// The numbers of entries and bytes for which there is room.
            @usableFromInline let capacity: Int
            @usableFromInline let byteCapacity: Int
            /// The number of bytes that no field uses any longer.
            @usableFromInline var unused = 0

            @inlinable init(capacity: Int, byteCapacity: Int) {
                self.capacity = capacity
                self.byteCapacity = byteCapacity
            }
        }

        /// Makes an empty storage with room for these numbers of entries and bytes.
        @usableFromInline
        static func make(capacity: Int, byteCapacity: Int) -> Storage {
            let words = (Swift.max(0, byteCapacity) + MemoryLayout<UInt32>.stride - 1) / MemoryLayout<UInt32>.stride
            let entryWords = MemoryLayout<Entry>.stride / MemoryLayout<UInt32>.stride
            let header = Header(capacity: capacity, byteCapacity: words * MemoryLayout<UInt32>.stride)
            let storage = Storage.create(minimumCapacity: capacity * entryWords + words) { _ in header }
            return unsafeDowncast(storage, to: Storage.self)
        }

        /// The header, without the check for exclusive access at each use.
        @inlinable @inline(__always)
        var state: UnsafeMutablePointer<Header> { withUnsafeMutablePointerToHeader { $0 } }

        @inlinable @inline(__always)
        var memory: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }

        /// The memory of the entries. Only those below the count are initialized.
        @inlinable @inline(__always)
        var entryMemory: UnsafeMutablePointer<Entry> { memory.assumingMemoryBound(to: Entry.self) }

        @inlinable @inline(__always)
        var byteMemory: UnsafeMutableRawPointer { memory + state.pointee.capacity &* MemoryLayout<Entry>.stride }

        @inlinable @inline(__always)
        var entries: UnsafeBufferPointer<Entry> { UnsafeBufferPointer(start: entryMemory, count: state.pointee.count) }

        @inlinable @inline(__always)
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: byteMemory, count: state.pointee.byteCount) }
    }
}

// MARK: - Sharing and changing the storage

extension HTTPFields {
    /// Calls `body` with all entries and the bytes to which they refer. Both are valid until `body` returns.
    @inlinable @inline(__always)
    package func withEntries<R>(
        _ body: (_ entries: UnsafeBufferPointer<Entry>, _ bytes: UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        guard let storage else {
            return try body(UnsafeBufferPointer(start: nil, count: 0), UnsafeRawBufferPointer(start: nil, count: 0))
        }
        defer { extendLifetime(storage) }
        return try body(storage.entries, storage.bytes)
    }

    /// The number of bytes to which the entries may refer.
    @inlinable @inline(__always)
    package var byteCount: Int { storage?.state.pointee.byteCount ?? 0 }

    /// One of the bytes to which the entries may refer.
    package func byte(at offset: Int) -> UInt8 { withEntries { $1[offset] } }

    /// Makes this the only owner of its storage, with room for these numbers of additional entries and bytes.
    @inlinable @inline(__always)
    package mutating func prepare(fields: Int, bytes: Int) {
        if isKnownUniquelyReferenced(&storage), let header = storage?.state.pointee,
            header.capacity &- header.count >= fields,
            header.byteCapacity &- header.byteCount >= bytes
        {
            return
        }
        replaceStorage(fields: fields, bytes: bytes)
    }

    @usableFromInline
    @inline(never)
    mutating func replaceStorage(fields: Int, bytes: Int) {
        guard let old = storage else {
            storage = .make(capacity: Swift.max(fields, 4), byteCapacity: Swift.max(bytes, 64))
            return
        }
        defer { extendLifetime(old) }
        let header = old.state.pointee
        precondition(bytes <= Int(UInt32.max) - header.byteCount, "HTTPFields hold at most 4 GiB")
        let new = Storage.make(
            capacity: Self.room(header.count + fields, now: header.capacity),
            byteCapacity: Self.room(header.byteCount + bytes, now: header.byteCapacity))
        new.entryMemory.initialize(from: old.entryMemory, count: header.count)
        new.byteMemory.copyMemory(from: old.byteMemory, byteCount: header.byteCount)
        new.state.pointee.count = header.count
        new.state.pointee.byteCount = header.byteCount
        new.state.pointee.unused = header.unused
        storage = new
    }

    /// Doubles the room if it is not sufficient, so that the cost of adding an element does not depend on their number.
    private static func room(_ needed: Int, now: Int) -> Int { needed <= now ? now : Swift.max(needed, 2 * now) }

    /// Removes all fields and bytes. The storage is reused if it has no other owner and is not unusually large.
    @inlinable @inline(__always)
    package mutating func removeAll(keepingFields fields: Int, bytes: Int) {
        if isKnownUniquelyReferenced(&storage), let storage, storage.state.pointee.capacity <= fields,
            storage.state.pointee.byteCapacity <= bytes
        {
            storage.state.pointee.count = 0
            storage.state.pointee.byteCount = 0
            storage.state.pointee.unused = 0
        } else {
            storage = nil
        }
    }

    /// Removes all fields and bytes, and makes this the only owner of a storage: the same one as before or, if there is
    /// another owner, a new one with room for slightly more than before.
    @inlinable @inline(__always)
    package mutating func restart() {
        #if THREAD_SANITIZER
            // The sanitizer does not recognise that another thread's release precedes the check for other owners.
            restartElsewhere()
        #else
            guard isKnownUniquelyReferenced(&storage) else { return restartElsewhere() }
            let state = storage.unsafelyUnwrapped.state
            state.pointee.count = 0
            state.pointee.byteCount = 0
            state.pointee.unused = 0
        #endif
    }

    @usableFromInline
    @inline(never)
    mutating func restartElsewhere() {
        // The size of a common head, if nothing else is known.
        let fields = storage == nil ? 16 : count + 2
        let bytes = storage == nil ? 512 : byteCount + byteCount / 8
        storage = .make(capacity: fields, byteCapacity: bytes)
    }

    /// If there is room for more than these numbers, removes all fields and bytes, and keeps room for these numbers
    /// only.
    @inlinable @inline(__always)
    package mutating func giveUpRoom(aboveFields fields: Int, bytes: Int) {
        guard let state = storage?.state, state.pointee.capacity > fields || state.pointee.byteCapacity > bytes else {
            return
        }
        storage = .make(capacity: fields, byteCapacity: bytes)
    }

    /// Adds bytes to which entries can refer.
    @inlinable @inline(__always)
    package mutating func append(bytes: UnsafeRawBufferPointer) {
        prepare(fields: 0, bytes: bytes.count)
        appendToOwn(bytes: bytes)
    }

    /// Adds bytes. This must be the only owner of its storage.
    @inlinable @inline(__always)
    package mutating func appendToOwn(bytes: UnsafeRawBufferPointer) {
        let header = storage.unsafelyUnwrapped.state.pointee
        if header.byteCapacity &- header.byteCount < bytes.count { replaceStorage(fields: 0, bytes: bytes.count) }
        guard let source = bytes.baseAddress else { return }
        let state = storage.unsafelyUnwrapped.state
        let place = storage.unsafelyUnwrapped.byteMemory + state.pointee.byteCount
        place.copyMemory(from: source, byteCount: bytes.count)
        state.pointee.byteCount &+= bytes.count
    }

    /// Adds a field whose bytes were added, or will be.
    @inlinable @inline(__always)
    package mutating func append(_ entry: Entry) {
        prepare(fields: 1, bytes: 0)
        let state = storage.unsafelyUnwrapped.state
        (storage.unsafelyUnwrapped.entryMemory + state.pointee.count).initialize(to: entry)
        state.pointee.count &+= 1
    }

    /// Adds the fields that `body` writes to the room for them; `body` returns their number. This must be the only
    /// owner of its storage, as after ``restart()`` or ``prepare(fields:bytes:)``.
    @inlinable @inline(__always)
    package mutating func appendEntries<R>(
        _ body: (_ room: UnsafeMutablePointer<Entry>, _ capacity: Int) -> (Int, R)
    ) -> R {
        let state = storage.unsafelyUnwrapped.state
        let room = storage.unsafelyUnwrapped.entryMemory + state.pointee.count
        let (added, result) = body(room, state.pointee.capacity &- state.pointee.count)
        state.pointee.count &+= added
        return result
    }

    /// Calls `body` with the entries and bytes, which it may change.
    package mutating func withMutableEntries<R>(
        _ body: (_ entries: UnsafeMutableBufferPointer<Entry>, _ bytes: UnsafeMutableRawBufferPointer) -> R
    ) -> R {
        prepare(fields: 0, bytes: 0)
        guard let storage else {
            return body(.init(start: nil, count: 0), .init(start: nil, count: 0))
        }
        let header = storage.state.pointee
        return body(
            UnsafeMutableBufferPointer(start: storage.entryMemory, count: header.count),
            UnsafeMutableRawBufferPointer(start: storage.byteMemory, count: header.byteCount))
    }
}
