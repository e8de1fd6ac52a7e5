#if Persistence
    import Foundation
    import GRDB
    import LoadingKitCore

    extension CookieRecord {
        /// The cookie in a row of the table; nil when the row has something else in a column, as a file may that others
        /// have written to.
        init?(_ row: Row) {
            func column<Value: DatabaseValueConvertible>(_ name: String, as type: Value.Type = Value.self) -> Value? {
                (row[name] as DatabaseValue?).flatMap { Value.fromDatabaseValue($0) }
            }
            func date(_ name: String) -> Date? {
                column(name, as: Double.self).map { Date(timeIntervalSinceReferenceDate: $0) }
            }
            guard let domain: String = column("domain"), let isHostOnly: Bool = column("isHostOnly"),
                let path: String = column("path"), let name: String = column("name"),
                let value: String = column("value"), let expires = date("expires"), let creation = date("creation"),
                let stored = date("stored"), let isSecure: Bool = column("isSecure"),
                let isHTTPOnly: Bool = column("isHTTPOnly"),
                let sameSite = column("sameSite", as: String.self).flatMap({ SameSite(rawValue: $0) })
            else { return nil }
            self.init(
                identity: Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path), value: value,
                creation: creation)
            self.expires = expires
            self.stored = stored
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
            legacy = column("legacy", as: Data.self).flatMap { try? JSONDecoder().decode(Legacy.self, from: $0) }
        }

        /// The values of the table's columns, in their order; nil for a cookie that ends with the session.
        var databaseArguments: StatementArguments? {
            guard let expires else { return nil }
            return [
                identity.domain, identity.isHostOnly, identity.path, identity.name, value,
                expires.timeIntervalSinceReferenceDate, creation.timeIntervalSinceReferenceDate,
                stored.timeIntervalSinceReferenceDate, isSecure, isHTTPOnly, sameSite.rawValue,
                legacy.flatMap { try? JSONEncoder().encode($0) },
            ]
        }
    }
#endif
