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
        _ command: TransferCommand, descriptors: [Int32], completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        // The caller may close its own as soon as this returns.
        var upload: UploadFile?
        if case .begin(let transfer) = command, let path = transfer.uploadFile, let descriptor = descriptors.first {
            upload = UploadFile(path: path, duplicating: descriptor)
        }
        service.loop.execute { [service, upload] in
            service.perform(command, upload, from: self, completion)
        }
    }

    func detach() { service.loop.execute { [service] in service.detach(self) } }
}
