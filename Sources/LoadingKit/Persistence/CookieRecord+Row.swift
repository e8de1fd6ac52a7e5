#if Persistence
    import Foundation
    import LoadingKitCore

    extension CookieRecord {
        /// The table's columns, in the order in which rows are read and written.
        static let columns =
            "domain, isHostOnly, path, name, value, expires, creation, stored, isSecure, isHTTPOnly, sameSite, legacy"

        /// The cookie in a row of the table; nil when the row has something else in a column, or text that cannot be sent,
        /// as a file may that others have written to.
        init?(_ row: SQLiteRow) {
            func date(_ column: Int) -> Date? {
                row.value(column, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) }
            }
            guard let domain = row.value(0, String.self), let isHostOnly = row.value(1, Bool.self),
                let path = row.value(2, String.self), let name = row.value(3, String.self),
                let value = row.value(4, String.self), let expires = date(5), let creation = date(6),
                let stored = date(7), let isSecure = row.value(8, Bool.self), let isHTTPOnly = row.value(9, Bool.self),
                let sameSite = row.value(10, String.self).flatMap({ SameSite(rawValue: $0) }),
                name.isCookieText, value.isCookieText
            else { return nil }
            self.init(
                identity: Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path), value: value,
                creation: creation)
            self.expires = expires
            self.stored = stored
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
            legacy = row.value(11, Data.self).flatMap { try? JSONDecoder().decode(Legacy.self, from: $0) }
        }

        /// The values of these columns; nil for a cookie that ends with the session.
        var columnValues: [(any SQLiteValue)?]? {
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
