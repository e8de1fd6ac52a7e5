import LoadingKitCore
import LoadingKitPersistence

/// Makes the stores on disk known to Core, which calls this by its C name when it first needs one.
@_cdecl("lk_install_disk_stores")
package func installDiskStores() {
    DiskStores.install(
        DiskStores(
            responses: { StoreLocation.responses(in: $0) },
            credentials: { StoreLocation.credentials() }))
}
