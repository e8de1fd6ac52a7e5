import DequeModule
import LoadingKitCore
import LoadingKitTransport

/// The queue of messages that wait until the socket accepts them.
///
/// A list's messages are made only when the socket accepts them. Of each transfer's progress only the latest value is
/// kept, behind all other messages: a peer that reads slowly misses earlier values.
struct OutgoingQueue {
    private enum Item {
        /// - Parameter isCounted: False for a frame of a list, of which only one exists at a time.
        case frame(MessageFrame, [OwnedDescriptor], isCounted: Bool)
        case list(AnyIterator<TransferMessage>)
    }

    private var items: Deque<Item> = []
    private var progress: [Int: TransferProgress] = [:]
    private var offset = 0
    /// The number of bytes that wait to be sent, without those of lists.
    private(set) var byteCount = 0

    mutating func append(_ frame: MessageFrame, _ descriptors: [OwnedDescriptor] = []) {
        byteCount += frame.bytes.count
        items.append(.frame(frame, descriptors, isCounted: true))
    }

    /// Appends a list of messages. A transfer that is too long for a message is sent without its request's body: its end
    /// can be reported nevertheless. Another message that cannot be encoded is left out.
    mutating func append(list: some Sequence<TransferMessage>) {
        items.append(.list(AnyIterator(list.makeIterator())))
    }

    /// Appends a transfer's progress, which replaces the progress that waits to be sent.
    mutating func append(_ transfer: Int, _ value: TransferProgress) { progress[transfer] = value }

    mutating func removeProgress(of transfer: Int) { progress[transfer] = nil }

    /// Calls the closure with the first message's unsent bytes and its descriptors.
    mutating func withFirst<Result>(_ body: (UnsafeRawBufferPointer, [OwnedDescriptor]) -> Result) -> Result? {
        while true {
            switch items.first {
            case .frame(let frame, let descriptors, _)?:
                return frame.bytes.withUnsafeBytes { bytes in
                    body(UnsafeRawBufferPointer(rebasing: bytes[offset...]), offset == 0 ? descriptors : [])
                }
            case .list(let messages)?:
                if let message = messages.next() {
                    if let frame = Self.frame(message) { items.prepend(.frame(frame, [], isCounted: false)) }
                } else {
                    items.removeFirst()
                }
            case nil:
                guard let (transfer, value) = progress.popFirst() else { return nil }
                if let frame = try? MessageFrame(.event(.progress(transfer, value))) { append(frame) }
            }
        }
    }

    /// `count` bytes of the first message were sent.
    mutating func didSend(_ count: Int) {
        guard case .frame(let frame, _, let isCounted)? = items.first else { return }
        offset += count
        guard offset >= frame.bytes.count else { return }
        if isCounted { byteCount -= frame.bytes.count }
        offset = 0
        items.removeFirst()
    }

    private static func frame(_ message: TransferMessage) -> MessageFrame? {
        if let frame = try? MessageFrame(message) { return frame }
        guard case .transfer(var transfer) = message else { return nil }
        transfer.request.body = nil
        return try? MessageFrame(.transfer(transfer))
    }
}
