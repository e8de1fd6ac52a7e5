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

    package func attach(
        _ session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        let channel = DaemonChannel(session, access, on: loop, receive: receive)
        loop.execute { channel.open() }
        return channel
    }
}
