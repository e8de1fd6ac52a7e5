import LoadingKit

// What programs write all day, with no type named: a member that a dependency adds to the standard library's types makes
// one or the other ambiguous, or changes what it gives. A value here is what the standard library gives.

private struct Person {
    let name: String
    let age: Int
    let friends: [String]
}

private let people = [
    Person(name: "Ann", age: 40, friends: ["Bob", "Eve"]), Person(name: "Bob", age: 30, friends: []),
    Person(name: "Eve", age: 40, friends: ["Ann"]),
]

public func collectionIdioms() -> [String] {
    let names = people.map { $0.name }
    let ages = people.map(\.age)
    let list = names.joined(separator: ", ")
    let lines = people.map { "\($0.name): \($0.age)" }.joined(separator: "\n")
    let quoted = names.map { "'\($0)'" }.joined(separator: ",")
    let word = ["a", "b"].joined()
    let nested = [[1, 2], [3]].joined()
    let separated = Array([[1], [2]].joined(separator: [0]))
    let characters = names.joined(separator: "-").map { String($0) }.joined(separator: " ")
    let all = people.flatMap { $0.friends }
    let known = people.flatMap(\.friends).filter { names.contains($0) }
    let numbers = ["1", "x", "3"].compactMap { Int($0) }
    let sum = ages.reduce(0) { $0 + $1 }
    let total = ages.reduce(0, +)
    let counts = all.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    let groups = Dictionary(grouping: people) { $0.age }
    let groupsByPath = Dictionary(grouping: people, by: \.age).mapValues { $0.map(\.name) }
    let byName = Dictionary(uniqueKeysWithValues: people.map { ($0.name, $0.age) })
    let merged = byName.merging(["Ann": 1, "Zoe": 2]) { $0 + $1 }
    let sorted = people.sorted { $0.age < $1.age }.map { $0.name }
    let sortedTwice = people.sorted { ($0.age, $0.name) > ($1.age, $1.name) }.map(\.name)
    let oldest = people.max { $0.age < $1.age }?.name ?? "none"
    let first = people.first { $0.age == 40 }.map { $0.name } ?? "none"
    let last = people.last?.friends.first ?? "none"
    let isKnown = names.contains("Eve") && !names.contains { $0.isEmpty } && people.allSatisfy { $0.age > 20 }
    let start = names.prefix(2) + names.suffix(1) + names.dropFirst().prefix { $0 != "Eve" }
    let pairs = zip(names, ages).map { "\($0)\($1)" }.joined(separator: "|")
    let numbered = names.enumerated().map { "\($0.offset)\($0.element)" }
    let parts = names.split { $0 == "Bob" }.map { Array($0) }
    let (rest, index) = (names.reversed(), names.firstIndex(of: "Bob") ?? -1)
    let unique = Set(all).union(["Zoe"]).subtracting(["Bob"]).sorted()
    let stepped = stride(from: 0, to: 10, by: 5).map { $0 * 2 }
    let lazily = (1...).lazy.filter { $0 % 2 == 0 }.map { $0 * $0 }.prefix(2).reduce(0, +)
    let minimum = min(ages.min() ?? 0, 7)
    let slices = [1, 2, 3, 4][1...].dropLast().map { $0 }
    return [
        list, lines, quoted, word, "\(Array(nested))", "\(separated)", characters, "\(all)", "\(known)", "\(numbers)",
        "\(sum == total)", "\(counts.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" })", "\(groups.count)",
        "\(groupsByPath[40] ?? [])", "\(merged.values.sorted())", "\(sorted)", "\(sortedTwice)", oldest, first, last,
        "\(isKnown)", "\(Array(start))", pairs, "\(numbered)", "\(parts)", "\(Array(rest)) \(index)", "\(unique)",
        "\(stepped)", "\(lazily)", "\(minimum)", "\(slices)",
    ]
}

public func textIdioms() -> [String] {
    let text = "key = value; other=2"
    let fields = text.split(separator: ";").map { field in
        field.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
    }
    let trimmed = text.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" }
    let upper = text.prefix(3).uppercased() + String(text.suffix(1))
    let position = text.firstIndex(of: "=").map { text.distance(from: text.startIndex, to: $0) } ?? -1
    let range = text.index(text.startIndex, offsetBy: 6)..<text.endIndex
    let bytes = text.utf8.prefix(3).map { String($0, radix: 16) }.joined(separator: " ")
    let words = "one two  three".split(separator: " ").map(String.init).filter { $0.count > 3 }
    let reversed = String(text.reversed().prefix(2))
    let replaced = String(text.map { $0 == " " ? "_" : $0 })
    let isSame = text.hasPrefix("key") && text.hasSuffix("2") && text.contains("=") && text.contains { $0.isNumber }
    let padded = String(repeating: "0", count: 3) + "\(7)"
    let pattern = text.split(separator: "; ").joined(separator: "&")
    let several = ["a": 1, "b": 2].map { "\($0)=\($1)" }.sorted().joined(separator: "&")
    let decoded = String(decoding: [104, 105], as: UTF8.self) + (Int("2A", radix: 16).map { "\($0)" } ?? "none")
    return [
        "\(fields)", "\(trimmed)", upper, "\(position)", "\(text[range])", bytes, "\(words)", reversed, replaced,
        "\(isSame)", padded, pattern, several, decoded,
    ]
}

private enum Failure: Error { case odd }

public func otherIdioms() -> [String] {
    let halves = [2, 3].map { number in Result { if number % 2 == 1 { throw Failure.odd } else { number / 2 } } }
    let shown = halves.map { result in
        switch result {
        case .success(let half): "\(half)"
        case .failure(let error): "\(error)"
        }
    }
    let mapped = (try? halves[0].map { $0 + 1 }.get()) ?? 0
    let path = \Person.name.count
    let lengths = people.map { $0[keyPath: path] }
    let age = people.first.flatMap { $0.age > 50 ? $0.age : nil } ?? people[1].age
    let (low, high) = people.map(\.age).reduce((Int.max, Int.min)) { (min($0.0, $1), max($0.1, $1)) }
    var values = [3, 1, 2]
    values.append(contentsOf: [5, 4])
    values.sort(by: >)
    values.removeAll { $0 > 4 }
    values.swapAt(0, 3)
    values.insert(9, at: 1)
    var table = ["a": [1]]
    table["a", default: []].append(2)
    table["b", default: []].append(3)
    let keys = table.keys.sorted()
    let matching = table.filter { $0.value.count > 1 }.keys.joined(separator: ",")
    let nothing = table["c"]?.first.map { "\($0)" } ?? "nothing"
    let clamped = (1...3).contains(2) && (0..<3).reversed().first == 2
    let bits = (0b1011 as UInt8).nonzeroBitCount + 1 << 2
    return [
        "\(shown)", "\(mapped)", "\(lengths)", "\(age)", "\(low) \(high)", "\(values)", "\(keys)", matching, nothing,
        "\(clamped)", "\(bits)",
    ]
}

/// What is LoadingKit's own needs no other import, either.
public func loadingIdioms() -> [String] {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["User-Agent": ["a", "b"].joined(separator: "/")]
    let names = ["b", "a"].compactMap { HTTPCookie(properties: [.name: $0, .value: "1", .domain: "h", .path: "/"]) }
    let line = names.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "; ")
    let agent = configuration.httpAdditionalHeaders?.values.map { "\($0)" }.joined() ?? "none"
    return [line, agent]
}
