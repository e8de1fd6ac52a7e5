import CLoadingKitShims
import Foundation
import LoadingKitPrimitives

/// What makes the stores on disk that public initializers of this module promise, though a module below it has them.
///
/// The composition root says what it is, in the C function `lk_install_disk_stores`: the linker finds it there whether or
/// not the program has called anything of that module yet, and a program built of this module alone has none.
package struct DiskStores: Sendable {
    private static let installed = Guarded<DiskStores?>(nil)

    /// Nil where there are no stores on disk.
    static let current: DiskStores? = {
        lk_compose()
        return installed.withLock { $0 }
    }()

    /// A cache's, in a folder; nil for the program's own folder.
    let responses: @Sendable (_ folder: URL?) -> (any DiskResponseStore)?
    /// Of the credentials that the program's sessions share.
    let credentials: @Sendable () -> (any CredentialStore)?

    package init(
        responses: @escaping @Sendable (_ folder: URL?) -> (any DiskResponseStore)?,
        credentials: @escaping @Sendable () -> (any CredentialStore)?
    ) {
        self.responses = responses
        self.credentials = credentials
    }

    /// Called once, by the composition root.
    package static func install(_ stores: DiskStores) { installed.withLock { $0 = stores } }
}
