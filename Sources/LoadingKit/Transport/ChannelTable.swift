/// Something with a descriptor that an event loop watches.
protocol LoopChannel: AnyObject {
    /// Which of epoll's events there are.
    func isReady(_ events: UInt32)
}

/// The channels of a loop, by descriptor. An event for a descriptor that was closed, and perhaps given out anew, since
/// it was reported finds another generation, and reaches nobody.
struct ChannelTable {
    private struct Slot {
        var generation: UInt32 = 0
        var channel: (any LoopChannel)?
    }

    static let wakeUpKey = UInt64.max

    private var slots: [Slot] = []

    mutating func add(_ channel: any LoopChannel, _ descriptor: Int32) -> UInt64 {
        let index = Int(descriptor)
        guard index >= 0 else { return Self.wakeUpKey - 1 }
        while slots.count <= index { slots.append(Slot()) }
        slots[index].generation &+= 1
        slots[index].channel = channel
        return UInt64(slots[index].generation) << 32 | UInt64(index)
    }

    mutating func replace(_ channel: any LoopChannel, _ descriptor: Int32) {
        if slots.indices.contains(Int(descriptor)) { slots[Int(descriptor)].channel = channel }
    }

    mutating func remove(_ descriptor: Int32) {
        guard slots.indices.contains(Int(descriptor)) else { return }
        slots[Int(descriptor)].generation &+= 1
        slots[Int(descriptor)].channel = nil
    }

    func find(_ key: UInt64) -> (any LoopChannel)? {
        let index = Int(key & 0xffff_ffff)
        guard slots.indices.contains(index), slots[index].generation == UInt32(key >> 32) else { return nil }
        return slots[index].channel
    }
}
