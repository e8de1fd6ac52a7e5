import DequeModule
import LoadingKitCore
import LoadingKitTransport

/// The messages that wait until the socket takes them.
///
/// Lists are made into messages as the socket takes them. Of a transfer's progress the latest waits alone, behind all else: a
/// peer that reads slowly misses some of it.
struct OutgoingQueue {
    private enum Item {
        /// - Parameter isCounted: Not where it comes of a list, of which there is one message at a time.
        case frame(MessageFrame, [OwnedDescriptor], isCounted: Bool)
        case list(AnyIterator<TransferMessage>)
    }

    private var items: Deque<Item> = []
    private var progress: [Int: TransferProgress] = [:]
    /// How much of the first frame was sent.
    private var offset = 0
    /// How many bytes wait, but for those of lists.
    private(set) var byteCount = 0

    mutating func append(_ frame: MessageFrame, _ descriptors: [OwnedDescriptor] = []) {
        byteCount += frame.bytes.count
        items.append(.frame(frame, descriptors, isCounted: true))
    }

    /// A message of a list that cannot be written is left out.
    mutating func append(list: some Sequence<TransferMessage>) {
        items.append(.list(AnyIterator(list.makeIterator())))
    }

    /// How far a transfer has come, in place of what waits to be said of it.
    mutating func append(_ transfer: Int, _ value: TransferProgress) { progress[transfer] = value }

    /// The transfer is over: its end says how far it came.
    mutating func removeProgress(of transfer: Int) { progress[transfer] = nil }

    /// What the first message has yet to send, and the descriptors that go with it.
    mutating func withFirst<Result>(_ body: (UnsafeRawBufferPointer, [OwnedDescriptor]) -> Result) -> Result? {
        while true {
            switch items.first {
            case .frame(let frame, let descriptors, _)?:
                return frame.bytes.withUnsafeBytes { bytes in
                    body(UnsafeRawBufferPointer(rebasing: bytes[offset...]), offset == 0 ? descriptors : [])
                }
            case .list(let messages)?:
                if let message = messages.next() {
                    if let frame = try? MessageFrame(message) { items.prepend(.frame(frame, [], isCounted: false)) }
                } else {
                    items.removeFirst()
                }
            case nil:
                guard let (transfer, value) = progress.popFirst() else { return nil }
                if let frame = try? MessageFrame(.event(.progress(transfer, value))) { append(frame) }
            }
        }
    }

    /// So many bytes of the first message were sent.
    mutating func didSend(_ count: Int) {
        guard case .frame(let frame, _, let isCounted)? = items.first else { return }
        offset += count
        guard offset >= frame.bytes.count else { return }
        if isCounted { byteCount -= frame.bytes.count }
        offset = 0
        items.removeFirst()
    }
}
