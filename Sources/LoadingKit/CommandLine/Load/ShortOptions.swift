/// Options of one letter, taken apart as curl does: `-sXPOST` is `-s -X POST`, and `-da=1` is `-d a=1`.
enum ShortOptions {
    /// The letters that a value follows, and the names that mean the same.
    private static let withValue: [Character: String] = [
        "o": "output", "X": "request", "H": "header", "d": "data", "A": "user-agent", "u": "user", "m": "max-time",
        "j": "jobs",
    ]
    private static let longWithValue = Set(withValue.values.map { "--\($0)" } + ["--cacert"])

    static func expanded(_ arguments: [String]) -> [String] {
        var expanded: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return expanded + [argument] + rest }
            let words = split(argument)
            expanded += words
            // What follows is a value, whatever it looks like.
            if needsValue(words), let value = rest.popFirst() { expanded.append(value) }
        }
        return expanded
    }

    private static func split(_ argument: String) -> [String] {
        guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.count > 2 else { return [argument] }
        var words: [String] = []
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            words.append("-\(letter)")
            guard withValue[letter] != nil else { continue }
            return letters.isEmpty ? words : words + [String(letters)]
        }
        return words
    }

    private static func needsValue(_ words: [String]) -> Bool {
        guard let last = words.last else { return false }
        if longWithValue.contains(last) { return true }
        guard last.count == 2, last.hasPrefix("-"), let letter = last.last, withValue[letter] != nil else {
            return false
        }
        // In `-d -d` the second is the first's value.
        return words.count < 2 || words.dropLast().last.map { !needsValue([$0]) } ?? true
    }
}
