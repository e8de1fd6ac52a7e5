import Foundation
import LoadingKitPrimitives

extension HTTPFields {
    /// Names and values as a dictionary. Names that differ only in case are one key, with the first name's spelling.
    ///
    /// - Parameters:
    ///   - separator: The text between values of the same name.
    ///   - spelling: Makes the dictionary's key from a field's name.
    func dictionary(
        joinedBy separator: String, spelling: (String) -> String = { $0 }
    ) -> [String: String] {
        var result: [String: String] = [:]
        result.reserveCapacity(count)
        var keys: [String: String] = [:]
        for field in self {
            let folded = field.name.asciiLowercased
            if let key = keys[folded] {
                result[key] = (result[key].map { $0 + separator } ?? "") + field.value
            } else {
                let key = spelling(field.name)
                keys[folded] = key
                result[key] = field.value
            }
        }
        return result
    }

    /// Replaces the value of a field, or adds the field, its name spelled as given.
    mutating func setKeepingSpelling(name: String, value: String) {
        if contains(name: name) { set(name: name, value: value) } else { append(name: name, value: value) }
    }

    /// The fields of a dictionary, sorted, so that a request is the same each time it is made. Of names that differ
    /// only in case, the first determines the spelling, and the last the value.
    init(lastOfEach dictionary: [String: String]) {
        var places: [String: Int] = [:]
        var list: [(name: String, value: String)] = []
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            let key = name.asciiLowercased
            if let place = places[key] {
                list[place].value = value
            } else {
                places[key] = list.count
                list.append((name, value))
            }
        }
        self.init()
        for (name, value) in list { append(name: name, value: value) }
    }

    /// Whether both have the same fields, regardless of the case of the names, and of the order of different names.
    func hasSameContent(as other: HTTPFields) -> Bool {
        if self == other { return true }
        return dictionary(joinedBy: ",", spelling: \.asciiLowercased)
            == other.dictionary(joinedBy: ",", spelling: \.asciiLowercased)
    }
}

/// Keyed archiving: an array of alternating names and values, so that the order is kept.
extension HTTPFields {
    func encode(with coder: NSCoder, key: String) {
        let strings = flatMap { [NSString(string: $0.name), NSString(string: $0.value)] }
        coder.encode(NSArray(array: strings), forKey: key)
    }

    /// Nil when the archive has no fields under the key.
    init?(coder: NSCoder, key: String) {
        guard let strings = coder.decodeArray(of: NSString.self, as: String.self, forKey: key) else { return nil }
        self.init()
        var iterator = strings.makeIterator()
        while let name = iterator.next(), let value = iterator.next() {
            append(name: name, value: value)
        }
    }
}
