import Synchronization

/// The uses for which a cassette was installed.
final class UseList: Sendable {
    private let list = Mutex<[HARCassette.Use]>([])

    var all: [HARCassette.Use] { list.withLock { $0 } }

    func append(_ use: HARCassette.Use) { list.withLock { $0.append(use) } }
}
