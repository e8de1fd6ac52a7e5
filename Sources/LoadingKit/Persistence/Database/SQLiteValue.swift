#if Persistence
    import CLoadingKitSQLite
    import Foundation

    /// A value that is bound to a parameter of a statement, or read from a column. Columns are not converted: in a file
    /// that other programs have written, a value of another type counts as a missing one.
    protocol SQLiteValue {
        /// Returns SQLite's result code.
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32

        /// Nil if the column contains a value of another type.
        init?(_ statement: OpaquePointer, column: Int32)
    }

    extension Int64: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self) }

        init?(_ statement: OpaquePointer, column: Int32) {
            guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
            self = sqlite3_column_int64(statement, column)
        }
    }

    extension Int: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { Int64(self).bind(to: statement, at: index) }

        init?(_ statement: OpaquePointer, column: Int32) {
            guard let value = Int64(statement, column: column) else { return nil }
            self.init(exactly: value)
        }
    }

    /// 0 or 1.
    extension Bool: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
            Int64(self ? 1 : 0).bind(to: statement, at: index)
        }

        init?(_ statement: OpaquePointer, column: Int32) {
            guard let value = Int64(statement, column: column) else { return nil }
            self = value != 0
        }
    }

    extension Double: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_double(statement, index, self) }

        init?(_ statement: OpaquePointer, column: Int32) {
            let type = sqlite3_column_type(statement, column)
            guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { return nil }
            self = sqlite3_column_double(statement, column)
        }
    }

    /// UTF-8. NUL is an ordinary character.
    extension String: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
            var text = self
            return text.withUTF8 { lk_sqlite3_bind_text(statement, index, $0.baseAddress, UInt64($0.count)) }
        }

        init?(_ statement: OpaquePointer, column: Int32) {
            guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
                // The text is read first, as it may be converted before its bytes can be counted.
                let text = sqlite3_column_text(statement, column)
            else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            self.init(validating: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        }
    }

    extension Data: SQLiteValue {
        func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
            withUnsafeBytes { lk_sqlite3_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
        }

        init?(_ statement: OpaquePointer, column: Int32) {
            guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
            let address = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            self = address.map { Data(bytes: $0, count: count) } ?? Data()
        }
    }
#endif
