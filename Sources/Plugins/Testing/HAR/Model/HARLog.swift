import Foundation

/// A recording of HTTP traffic: HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), as browsers' developer tools
/// export and import it.
///
/// Members that the specification does not have (`_initiator`, `_priority` …) are kept in each object's `others`, and
/// written again. `Codable` reads and writes the whole file's object, whose only member is `log`.
public struct HARLog: Sendable, Hashable {
    /// The version of the format.
    public var version = "1.2"
    /// The program that made the recording.
    public var creator: HARCreator
    /// The browser that made it; nil for a program that is none.
    public var browser: HARCreator?
    /// The pages that the requests belong to. A file without a list of them is read as one with an empty list, and
    /// written with that: Firefox imports no other.
    public var pages: [HARPage] = []
    /// The requests with their responses, in the order in which they were begun.
    public var entries: [HAREntry]
    /// A text for people.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// A recording.
    public init(creator: HARCreator = .loadingKit, entries: [HAREntry] = []) {
        self.creator = creator
        self.entries = entries
    }

    // MARK: Files

    /// Reads a HAR file's bytes.
    ///
    /// - Throws: ``HARError``, which says where the text is no JSON, or which member is missing or of the wrong kind.
    public init(data: Data) throws(HARError) {
        let file: JSONValue
        do {
            file = try JSONValue(parsing: data)
        } catch {
            throw HARError("this is no JSON: \(error)")
        }
        try self.init(file: file)
    }

    /// Reads a HAR file.
    ///
    /// - Throws: ``HARError`` with the file's path.
    public init(contentsOf url: URL) throws(HARError) {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw HARError("\(url.path): the file cannot be read: \(error.localizedDescription)")
        }
        do {
            try self.init(data: data)
        } catch {
            throw error.prefixed(url.path)
        }
    }

    /// The file's text in UTF-8, two spaces for each depth, with members sorted by name.
    public var data: Data { Data((file.text(indentation: 2) + "\n").utf8) }

    /// Writes the file: as a whole or not at all, so that no program sees a half of it. It may be read by its owner
    /// alone.
    public func write(to url: URL) throws(HARError) {
        let temporary = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            guard
                FileManager.default.createFile(
                    atPath: temporary.path, contents: data, attributes: [.posixPermissions: 0o600])
            else { throw HARError("the file cannot be made") }
            guard rename(temporary.path, url.path) == 0 else { throw HARError(String(cString: strerror(errno))) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw HARError("\(url.path): the recording cannot be written: \(error.localizedDescription)")
        }
    }

    private init(file: JSONValue) throws(HARError) {
        var file = try HARObject(file, "the file")
        self = try file.requiredObject("log") { (object) throws(HARError) in try HARLog(&object) }
    }

    private var file: JSONValue { .object(["log": json]) }
}

extension HARLog: Codable {
    /// Decodes the whole file's object.
    public init(from decoder: any Decoder) throws { try self.init(file: JSONValue(from: decoder)) }

    /// Encodes the whole file's object.
    public func encode(to encoder: any Encoder) throws { try file.encode(to: encoder) }
}

extension HARLog {
    init(_ object: inout HARObject) throws(HARError) {
        version = try object.string("version") ?? "1.1"
        creator = try object.object("creator", HARCreator.init) ?? HARCreator(name: "unknown", version: "")
        browser = try object.object("browser", HARCreator.init)
        pages = try object.list("pages", HARPage.init) ?? []
        guard let entries = try object.list("entries", HAREntry.init) else {
            throw HARError("log.entries: is missing")
        }
        self.entries = entries
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("version", version)
        members.set("creator", creator)
        members.set("browser", browser)
        members.set("pages", pages)
        members.set("entries", entries)
        members.set("comment", comment)
        return members.value
    }
}

/// A program that made a recording: `creator`, and `browser`.
public struct HARCreator: HARPart, Sendable, Hashable {
    /// The program's name.
    public var name: String
    /// The program's version.
    public var version: String
    /// A text for people.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// What ``HARRecorder`` writes.
    public static let loadingKit = HARCreator(name: "LoadingKit", version: "1")

    /// A program.
    public init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    static let partName = "creator"

    init(_ object: inout HARObject) throws(HARError) {
        name = try object.string("name") ?? ""
        version = try object.string("version") ?? ""
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("name", name)
        members.set("version", version)
        members.set("comment", comment)
        return members.value
    }
}
