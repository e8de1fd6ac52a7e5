import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Dates in the form of archives: since 1980, in steps of two seconds, without a time zone. They are interpreted as
/// UTC.
enum DOSTime {
    /// Nil for an invalid day or time.
    static func date(date: UInt16, time: UInt16) -> Date? {
        CivilTime(
            year: Int(date >> 9) + 1980, month: Int(date >> 5 & 15), day: Int(date & 31), hour: Int(time >> 11),
            minute: Int(time >> 5 & 63), second: Int(time & 31) * 2
        ).map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
    }
}
