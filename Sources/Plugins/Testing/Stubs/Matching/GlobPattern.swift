/// A pattern for URLs: `*` matches any characters but `/`, `**` any characters, and `{name}` one or more characters but
/// `/`, which are stored under the name. All other characters match themselves.
struct GlobPattern: Sendable {
    private enum Token: Sendable, Equatable {
        case literal([Character])
        case segment
        case any
        case parameter(String)
    }

    private let tokens: [Token]

    init(_ text: String) {
        var tokens: [Token] = []
        var literal: [Character] = []
        func endLiteral() {
            if !literal.isEmpty { tokens.append(.literal(literal)) }
            literal = []
        }
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "*" {
                endLiteral()
                if rest.first == "*" {
                    rest = rest.drop { $0 == "*" }
                    tokens.append(.any)
                } else {
                    tokens.append(.segment)
                }
            } else if character == "{", let end = rest.firstIndex(of: "}") {
                endLiteral()
                tokens.append(.parameter(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                literal.append(character)
            }
        }
        endLiteral()
        self.tokens = tokens
    }

    /// The values of the parameters, as they are in the text; nil where the text does not match.
    func match(_ text: String) -> [String: String]? {
        var search = Search(tokens: tokens, text: Array(text))
        guard search.find(token: 0, at: 0) else { return nil }
        return search.parameters
    }

    /// Tries each position once for each token: the time is limited by the text's length times the number of tokens.
    private struct Search {
        let tokens: [Token]
        let text: [Character]
        var parameters: [String: String] = [:]
        /// Pairs of token and position from which the rest does not match.
        var failed: Set<Int> = []

        mutating func find(token: Int, at start: Int) -> Bool {
            guard token < tokens.count else { return start == text.count }
            let key = token * (text.count + 1) + start
            guard !failed.contains(key) else { return false }
            let isFound = attempt(token, start)
            if !isFound { failed.insert(key) }
            return isFound
        }

        private mutating func attempt(_ token: Int, _ start: Int) -> Bool {
            switch tokens[token] {
            case .literal(let literal):
                guard text[start...].starts(with: literal) else { return false }
                return find(token: token + 1, at: start + literal.count)
            case .segment: return extend(token, start, from: start) { $0 != "/" }
            case .any: return extend(token, start, from: start) { _ in true }
            case .parameter:
                guard start < text.count, text[start] != "/" else { return false }
                return extend(token, start, from: start + 1) { $0 != "/" }
            }
        }

        /// Tries the shortest piece first.
        private mutating func extend(
            _ token: Int, _ start: Int, from first: Int, while allows: (Character) -> Bool
        ) -> Bool {
            var end = first
            while true {
                if find(token: token + 1, at: end) {
                    if case .parameter(let name) = tokens[token] { parameters[name] = String(text[start..<end]) }
                    return true
                }
                guard end < text.count, allows(text[end]) else { return false }
                end += 1
            }
        }
    }
}
