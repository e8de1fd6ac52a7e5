import LoadingKitCore
import LoadingKitTransport

/// The transfers of background sessions that the user's daemon performs. It is started when there is none, and again where it
/// dies.
package final class DaemonTransfers: BackgroundTransfers {
    private let access: DaemonAccess
    private let loop: EventLoop

    package init(_ access: DaemonAccess = DaemonAccess(), on loop: EventLoop = .next()) {
        self.access = access
        self.loop = loop
    }

    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        DaemonChannel(session, access, on: loop, receive: receive)
    }
}
