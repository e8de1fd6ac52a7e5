import Foundation
import LoadingKitCore

extension StoreLocation {
    /// A program's stores, which another process of the same user opens by their folder.
    package struct Stores {
        package let cookies: (any CookiePersistence)?
        package let credentials: (any CredentialStore)?
        package let hsts: (any HSTSPersistence)?
    }

    /// The identity of this program: its bundle identifier, or its name and location.
    package static var programIdentifier: String { RunningProgram.identifier }

    /// The identity of this program as a file name.
    package static var programFileName: String { fileName(RunningProgram.identifier) }

    /// The folder of this program's stores, or of a group of programs if `group` is given.
    package static func folderPath(group: String? = nil) -> String? {
        #if Persistence
            return folder(group: group).path
        #else
            return nil
        #endif
    }

    /// The stores in a folder from ``folderPath(group:)``, of any program.
    package static func stores(in folder: String) -> Stores {
        #if Persistence
            let folder = URL(fileURLWithPath: folder, isDirectory: true)
            return Stores(
                cookies: CookieDatabase(url: folder.appendingPathComponent("Cookies.sqlite")),
                credentials: CredentialDatabase(folder: folder),
                hsts: HSTSDatabase(url: folder.appendingPathComponent(hstsName), former: nil))
        #else
            return Stores(cookies: nil, credentials: nil, hsts: nil)
        #endif
    }

    static let hstsName = "StrictTransport.sqlite"
}
