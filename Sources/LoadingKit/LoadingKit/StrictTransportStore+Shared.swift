import LoadingKitCore
import LoadingKitPersistence

extension StrictTransportStore {
    /// What the program's sessions share that keep things beyond their end.
    package static let shared = StrictTransportStore(persistence: StoreLocation.strictTransport())
}
