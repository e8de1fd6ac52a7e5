import LoadingKitPrimitives

/// Months as `ls` writes them in the languages that servers are known to run in.
enum MonthNames {
    /// From 1 to 12; nil where a word is no month. In any letter case, with or without a full stop.
    static func number(_ word: ArraySlice<UInt8>) -> Int? {
        guard word.count <= 16, let first = word.first else { return nil }
        if ASCII.isDigit(first) { return asian(word) }
        var text =
            String(validating: word, as: UTF8.self) ?? String(String.UnicodeScalarView(word.map { Unicode.Scalar($0) }))
        if text.last == "." { text.removeLast() }
        return numbers[text.lowercased()]
    }

    /// `1月` of Chinese and Japanese, and `1월` of Korean.
    private static func asian(_ word: ArraySlice<UInt8>) -> Int? {
        let digits = withoutSuffix(word, ["月", "월"])
        guard digits.count < word.count, let month = digits.datePart, 1...12 ~= month else { return nil }
        return month
    }

    /// The word, without the first of these texts that it ends with.
    static func withoutSuffix(_ word: ArraySlice<UInt8>, _ suffixes: [String]) -> ArraySlice<UInt8> {
        for suffix in suffixes
        where word.count > suffix.utf8.count && word.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            return word.dropLast(suffix.utf8.count)
        }
        return word
    }

    private static let numbers: [String: Int] = {
        var numbers: [String: Int] = [:]
        for language in languages {
            for (index, names) in language.split(separator: " ").enumerated() {
                for name in names.split(separator: "/") { numbers[String(name)] = index + 1 }
            }
        }
        return numbers
    }()

    /// Twelve each, with `/` between spellings. No name stands for different months in two of them.
    private static let languages = [
        // English
        "jan/january feb/february mar/march apr/april may jun/june jul/july aug/august sep/sept/september oct/october"
            + " nov/november dec/december",
        // German
        "jan/jän feb mär/märz/mrz apr mai jun/juni jul/juli aug sep okt nov dez",
        // French
        "jan/janv fév/févr/fevr mar/mars avr/avril mai juin/jui juil/jul aoû/août/aout sep/sept oct nov déc/dec",
        // Spanish, Portuguese, Italian
        "ene feb mar abr may jun jul ago sep/set oct nov dic", "jan fev mar abr mai jun jul ago set out nov dez",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        // Dutch, Swedish, Danish and Norwegian
        "jan feb mrt apr mei jun jul aug sep okt nov dec", "jan feb mar apr maj jun jul aug sep okt nov dec/des",
        // Finnish
        "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
        // Polish, Czech
        "sty lut mar kwi maj cze lip sie wrz paź lis gru", "led úno bře dub kvě čen čec/čvc srp zář říj lis pro",
        // Hungarian, Turkish
        "jan febr márc ápr máj jún júl aug szept okt nov dec", "oca şub mar nis may haz tem ağu eyl eki kas ara",
        // Russian
        "янв/января фев/февр мар/марта/март апр/апреля мая/май июн/июня июл/июля авг/августа сен/сент окт ноя/нояб дек",
    ]
}
