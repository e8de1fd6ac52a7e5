import LoadingKitPrimitives

/// A date as `ls -l` writes it, of one to four words.
///
///     Jan 29 03:26       29 Jan 03:26       Jan 29  2024       Jan 29 03:26:15 2024
///     09-26 13:45        09-26 2024         2024-01-29         2024-01-29 03:26:15.000 +0100
struct ListingDate {
    let time: FTPTimestamp
    let wordCount: Int

    /// Parses the date that begins at the word with this index.
    static func read(_ line: ListingLine, at index: Int, now: Int64) -> ListingDate? {
        let first = line.word(index)
        let second = line.word(index + 1)
        if let month = month(first), let day = day(second) {
            return readRest(line, at: index + 2, month, day, now)?.following(2)
        }
        if let day = day(first), let month = month(second) {
            return readRest(line, at: index + 2, month, day, now)?.following(2)
        }
        let parts = first.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(\.datePart)
        if parts.count == 2, let month = parts[0], let day = parts[1], 1...12 ~= month, 1...31 ~= day {
            return readRest(line, at: index + 1, month, day, now)?.following(1)
        }
        if parts.count == 3, let year = parts[0], year >= 1900, let month = parts[1], let day = parts[2] {
            return readISO(line, at: index, year, month, day)
        }
        return nil
    }

    /// Parses the words after the month and the day: a time, a year, or both.
    private static func readRest(
        _ line: ListingLine, at index: Int, _ month: Int, _ day: Int, _ now: Int64
    ) -> ListingDate? {
        let word = line.word(index)
        if let year = year(word) {
            return make(FTPTimestamp(year: year, month: month, day: day, precision: .day, isUTC: false), 1)
        }
        guard let clock = Clock(word) else { return nil }
        // `ls -T` writes a time and a year.
        if clock.precision == .second, let year = year(line.word(index + 1)) {
            return make(clock.on(year, month, day), 2)
        }
        return make(clock.onLatest(month, day, before: now), 1)
    }

    /// The same time, with `count` more words before it.
    private func following(_ count: Int) -> ListingDate {
        ListingDate(time: time, wordCount: wordCount + count)
    }

    private static func readISO(
        _ line: ListingLine, at index: Int, _ year: Int, _ month: Int, _ day: Int
    ) -> ListingDate? {
        guard let clock = Clock(line.word(index + 1)) else {
            return make(FTPTimestamp(year: year, month: month, day: day, precision: .day, isUTC: false), 1)
        }
        // `ls --full-time` writes the time zone.
        let zone = line.word(index + 2)
        if clock.precision == .second, zone.count == 5, let hours = zone.dropFirst().prefix(2).datePart,
            let minutes = zone.dropFirst(3).datePart, let sign = zone.first,
            sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
        {
            let offset = Int64(hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
            let local = clock.on(year, month, day)
            return make(local.flatMap { FTPTimestamp(secondsSince1970: $0.secondsSince1970 - offset) }, 3)
        }
        return make(clock.on(year, month, day), 2)
    }

    private static func make(_ time: FTPTimestamp?, _ wordCount: Int) -> ListingDate? {
        time.map { ListingDate(time: $0, wordCount: wordCount) }
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
