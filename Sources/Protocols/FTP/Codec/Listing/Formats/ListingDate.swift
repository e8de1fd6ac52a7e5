import LoadingKitPrimitives

/// A date as `ls -l` writes it, of one to three words: `Jan 29 03:26`, `29 Jan 03:26`, `Jan 29  2024`, `2024-01-29`,
/// `2024-01-29 03:26`. After a time with seconds another word follows, the year or the time zone, which would be taken for
/// the name's beginning: such a line is not read.
struct ListingDate {
    let time: FTPTimestamp
    let wordCount: Int

    /// Parses the date that begins at the word with this index.
    init?(_ line: ListingLine, at index: Int, now: Int64) {
        let (first, second, third) = (line.word(index), line.word(index + 1), line.word(index + 2))
        let time: FTPTimestamp?
        if let month = Self.month(first) ?? Self.month(second),
            let day = Self.day(Self.month(first) == nil ? first : second)
        {
            wordCount = 3
            time =
                if let year = Self.year(third) {
                    FTPTimestamp(year: year, month: month, day: day, precision: .day, isUTC: false)
                } else if let clock = Clock(third), clock.precision == .minute {
                    clock.onLatest(month, day, before: now)
                } else {
                    nil
                }
        } else {
            let parts = first.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            let numbers = parts.compactMap(\.datePart)
            guard numbers.count == 3, parts.count == 3, numbers[0] >= 1900 else { return nil }
            let clock = Clock(second)
            wordCount = clock == nil ? 1 : 2
            time =
                if let clock {
                    clock.precision == .minute ? clock.on(numbers[0], numbers[1], numbers[2]) : nil
                } else {
                    FTPTimestamp(year: numbers[0], month: numbers[1], day: numbers[2], precision: .day, isUTC: false)
                }
        }
        guard let time else { return nil }
        self.time = time
    }

    /// The month from 1 to 12: `Jan` or `January`, in any letter case.
    private static func month(_ word: ArraySlice<UInt8>) -> Int? {
        let name = String(decoding: word, as: UTF8.self).lowercased()
        guard name.count >= 3 else { return nil }
        return months.firstIndex { $0.hasPrefix(name) }.map { $0 + 1 }
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    private static func day(_ word: ArraySlice<UInt8>) -> Int? {
        guard let number = word.datePart, 1...31 ~= number else { return nil }
        return number
    }

    private static func year(_ word: ArraySlice<UInt8>) -> Int? {
        guard word.count == 4, let number = word.datePart, number >= 1900 else { return nil }
        return number
    }
}

/// A time of day: `03:26`, `03:26:15`, `03:26:15.123456789`, and `3:26PM` of MS-DOS.
struct Clock {
    let hour: Int
    let minute: Int
    let second: Int
    let precision: FTPTimestamp.Precision

    init?(_ word: ArraySlice<UInt8>) {
        var word = word
        var half: UInt8?
        if let last = word.last, ASCII.lowercased(last) == UInt8(ascii: "m") { word.removeLast() }
        if let last = word.last.map(ASCII.lowercased), last == UInt8(ascii: "a") || last == UInt8(ascii: "p") {
            half = last
            word.removeLast()
        }
        let parts = word.split(separator: ASCII.colon, omittingEmptySubsequences: false)
        guard 2...3 ~= parts.count, parts[0].count <= 2, parts[1].count == 2, let hour = parts[0].datePart,
            let minute = parts[1].datePart
        else { return nil }
        var second = 0
        if parts.count == 3 {
            // The fraction of a second is ignored.
            guard let number = parts[2].prefix(while: ASCII.isDigit).datePart else { return nil }
            second = number
        }
        guard hour <= 23, minute <= 59, second <= 60 else { return nil }
        if half != nil, hour > 12 { return nil }
        self.hour = half == UInt8(ascii: "p") ? hour % 12 + 12 : half == nil ? hour : hour % 12
        self.minute = minute
        self.second = second
        precision = parts.count == 3 ? .second : .minute
    }

    func on(_ year: Int, _ month: Int, _ day: Int) -> FTPTimestamp? {
        FTPTimestamp(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, precision: precision,
            isUTC: false)
    }

    /// The time on the latest such day that is at most one day after `now`. 29 February may be eight years earlier.
    func onLatest(_ month: Int, _ day: Int, before now: Int64) -> FTPTimestamp? {
        let (soon, overflow) = now.addingReportingOverflow(86_400)
        guard !overflow, let soonest = FTPTimestamp(secondsSince1970: soon) else { return nil }
        for year in stride(from: soonest.year, through: soonest.year - 8, by: -1) {
            if let time = on(year, month, day), time.secondsSince1970 <= soon { return time }
        }
        return nil
    }
}
