import Foundation
import FoundationXML

/// An element of an answer's XML, with its text and its children. Attributes and namespaces do not matter to S3's answers.
struct XMLElement: Sendable, Equatable {
    /// Without a prefix.
    let name: String
    var text = ""
    var children: [XMLElement] = []

    init(_ name: String) { self.name = name }

    /// The text of the first child of this name.
    subscript(name: String) -> String? { first(name)?.text }

    func first(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

/// An answer that is no XML, or more of it than an answer has.
enum XMLAnswerError: Error, Equatable {
    case malformed
    /// It declares a document type or entities, which may expand to anything; S3's answers have none.
    case hasDocumentType
    case tooManyElements
    case tooDeep
}

/// Limits for an answer. Its size is limited where it is read.
struct XMLLimits: Sendable {
    /// A page of a listing has 1,000 objects of at most ten elements each.
    var elements = 40_000
    var depth = 16
}

extension XMLElement {
    /// The root element of a document. What follows it is not looked at.
    static func parse(_ data: Data, limits: XMLLimits = XMLLimits()) throws(XMLAnswerError) -> XMLElement {
        // Foundation's parser ends the process where the name of an element is no UTF-8. UTF-16, which S3 does not send, would
        // hide a declaration from the search below.
        guard !data.contains(0), String(validating: data, as: UTF8.self) != nil, !declaresOtherEncoding(data) else {
            throw .malformed
        }
        guard data.range(of: Data("<!DOCTYPE".utf8)) == nil, data.range(of: Data("<!ENTITY".utf8)) == nil else {
            throw .hasDocumentType
        }
        let builder = TreeBuilder(limits)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let isParsed = parser.parse()
        if let failure = builder.failure { throw failure }
        guard isParsed, let root = builder.root else { throw .malformed }
        return root
    }
}

extension XMLElement {
    /// Whether the declaration names another encoding than UTF-8. In some, such as UTF-7, the parser would find what the search
    /// for a document type does not.
    private static func declaresOtherEncoding(_ data: Data) -> Bool {
        let text = String(decoding: data.prefix(1024), as: UTF8.self).lowercased()
        guard let start = text.range(of: "<?xml"), let end = text.range(of: "?>") else { return false }
        guard start.upperBound <= end.lowerBound else { return true }
        let declaration = text[start.upperBound..<end.lowerBound]
        guard let name = declaration.range(of: "encoding") else { return false }
        let value = declaration[name.upperBound...].trimmingCharacters(in: CharacterSet(charactersIn: "= \t\r\n\"'"))
        return !["utf-8", "utf8", "us-ascii"].contains {
            value == $0 || value.hasPrefix($0 + "\"") || value.hasPrefix($0 + "'")
        }
    }
}

/// Puts the parser's events together.
private final class TreeBuilder: NSObject, XMLParserDelegate {
    private let limits: XMLLimits
    private var open: [XMLElement] = []
    private var count = 0
    private(set) var root: XMLElement?
    private(set) var failure: XMLAnswerError?

    init(_ limits: XMLLimits) { self.limits = limits }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String] = [:]
    ) {
        guard failure == nil else { return }
        count += 1
        if count > limits.elements { return fail(.tooManyElements, parser) }
        if open.count >= limits.depth { return fail(.tooDeep, parser) }
        open.append(XMLElement(elementName.split(separator: ":").last.map(String.init) ?? elementName))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { add(string) }

    func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) { add(String(decoding: CDATABlock, as: UTF8.self)) }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    private func add(_ text: String) {
        guard failure == nil, !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    private func fail(_ error: XMLAnswerError, _ parser: XMLParser) {
        failure = error
        open = []
        parser.abortParsing()
    }
}

/// Text for an XML document.
enum XMLText {
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
