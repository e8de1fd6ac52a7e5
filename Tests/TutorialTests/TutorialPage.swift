import Foundation

/// A page of the documentation that a reader follows: blocks of code, each with the line before it that says where it goes.
///
/// | line before the block | what the reader does |
/// |---|---|
/// | `` `PATH`: `` | makes the file, with this content |
/// | `` `PATH`, above `TEXT`: `` | puts the block above the only line of the file that begins with the text |
struct TutorialPage {
    struct Problem: Error, CustomStringConvertible {
        let line: Int
        let text: String
        var description: String { "line \(line): \(text)" }
    }

    private struct Block {
        let language: String
        /// Where it begins in the page, from 1.
        let line: Int
        let place: String
        var code: [Substring] = []
    }

    /// The files of a reader who has followed the page to its end, by their paths.
    private(set) var files: [String: String] = [:]
    /// The lines of the blocks for a shell.
    private(set) var commands: [String] = []

    init(_ page: String) throws(Problem) {
        for block in try Self.blocks(page) {
            switch block.language {
            case "swift": try follow(block)
            case "sh": commands += block.code.map(String.init)
            default:
                throw Problem(line: block.line, text: "a block is of swift or sh, and not of \"\(block.language)\"")
            }
        }
    }

    private static func blocks(_ page: String) throws(Problem) -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        var place = ""
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let block = open {
                if line == "```" {
                    blocks.append(block)
                    open = nil
                } else {
                    open?.code.append(line)
                }
            } else if line.hasPrefix("```") {
                open = Block(language: String(line.dropFirst(3)), line: index + 1, place: place)
            } else if !line.isEmpty {
                place = String(line)
            }
        }
        if let open { throw Problem(line: open.line, text: "the block has no end") }
        return blocks
    }

    private mutating func follow(_ block: Block) throws(Problem) {
        // Paths and texts are between backquotes, words outside.
        let parts = block.place.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        switch (parts.count, parts.first, parts.last) {
        case (3, "", ":"):
            guard files[parts[1]] == nil else {
                throw Problem(line: block.line, text: "\(parts[1]) is made a second time")
            }
            files[parts[1]] = block.code.joined(separator: "\n") + "\n"
        case (5, "", ":") where parts[2] == ", above ":
            try insert(block, into: parts[1], above: parts[3])
        default: throw Problem(line: block.line, text: "\"\(block.place)\" does not say where the block goes")
        }
    }

    private mutating func insert(_ block: Block, into path: String, above text: String) throws(Problem) {
        guard let file = files[path] else { throw Problem(line: block.line, text: "there is no \(path) yet") }
        var lines = file.split(separator: "\n", omittingEmptySubsequences: false)
        let places = lines.indices.filter { lines[$0].drop { $0 == " " }.hasPrefix(text) }
        guard let place = places.first, places.count == 1 else {
            throw Problem(line: block.line, text: "\(places.count) lines of \(path) begin with \(text)")
        }
        lines.insert(contentsOf: block.code, at: place)
        files[path] = lines.joined(separator: "\n")
    }
}
