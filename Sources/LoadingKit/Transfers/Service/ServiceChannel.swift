import LoadingKitCore
import LoadingKitTransport

/// A session's way to the service in the same process.
final class ServiceChannel: TransferChannel, Sendable {
    private let service: TransferService
    private let session: SessionDescription
    let receive: @Sendable (TransferEvent) -> Void

    init(
        _ service: TransferService, _ session: SessionDescription,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.service = service
        self.session = session
        self.receive = receive
    }

    func attach() { service.loop.execute { [service, session] in service.attach(self, session) } }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        service.loop.execute { [service] in service.perform(command, descriptors.first, from: self, completion) }
    }

    func detach() { service.loop.execute { [service] in service.detach(self) } }
}
