import Foundation
import LoadingKitCore

extension StoreLocation {
    /// A program's stores, as another process of its user's opens them: by the folder that they are in.
    package struct Stores {
        package let cookies: (any CookiePersistence)?
        package let credentials: (any CredentialStore)?
        package let hsts: (any HSTSPersistence)?
    }

    /// What distinguishes this program from others: its bundle identifier, or its name and where it is.
    package static var programIdentifier: String { RunningProgram.identifier }

    /// The same as the name of a file.
    package static var programFileName: String { fileName(RunningProgram.identifier) }

    /// The folder of this program's stores; of a group of programs where that has a name.
    package static func folderPath(group: String? = nil) -> String? {
        #if Persistence
            return folder(group: group)?.path
        #else
            return nil
        #endif
    }

    /// The stores in a folder of ``folderPath(group:)``, of whichever program.
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
