import Foundation

/// A recording of HTTP traffic: HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), the format that browsers'
/// developer tools export and import.
///
/// Members that the specification does not define (`_initiator`, `_priority` …) are kept in each object's `others`, and
/// written again. `Codable` reads and writes the object of the whole file, whose only member is `log`.
public struct HARLog: HARPart, Sendable, Hashable {
    /// The version of the format.
    public var version = "1.2"
    /// The program that made the recording.
    public var creator: HARCreator
    /// The browser that made the recording; nil for any other program.
    public var browser: HARCreator?
    /// The pages of the requests. A file without a list of pages is read as one with an empty list, and written with
    /// it: Firefox does not import files without the list.
    public var pages: [HARPage] = []
    /// The requests with their responses, in the order in which they were started.
    public var entries: [HAREntry]
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a recording.
    public init(creator: HARCreator = .loadingKit, entries: [HAREntry] = []) {
        self.creator = creator
        self.entries = entries
    }

    // MARK: Files

    /// Parses the bytes of a HAR file.
    ///
    /// - Throws: ``HARError``, with the place where the text is not JSON, or the member that is missing or of the wrong
    ///   kind.
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

    /// The file's text in UTF-8, with two spaces for each level, and members sorted by name.
    public var data: Data { Data((file.text(indentation: 2) + "\n").utf8) }

    /// Writes the file atomically, so that no program reads an incomplete file. Only its owner can read it.
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
        guard let members = file.object else { throw HARError("the file: an object is expected, not \(file.kind)") }
        guard let log = members["log"], log != .null else { throw HARError("log: is missing") }
        try self.init(log, at: "log")
    }

    private var file: JSONValue { ["log": json ?? .null] }

    /// Decodes the object of the whole file.
    public init(from decoder: any Decoder) throws { try self.init(file: JSONValue(from: decoder)) }

    /// Encodes the object of the whole file.
    public func encode(to encoder: any Encoder) throws { try file.encode(to: encoder) }

    static var blank: HARLog {
        var log = HARLog(creator: HARCreator(name: "unknown", version: ""))
        log.version = "1.1"
        return log
    }

    static let members: [HARMember<HARLog>] = [
        .init("version", \.version), .init("creator", \.creator), .init("browser", \.browser), .init("pages", \.pages),
        .init("entries", \.entries, isRequired: true),
    ]
}

/// A program that made a recording: `creator`, and `browser`.
public struct HARCreator: HARPart, Sendable, Hashable {
    /// The program's name.
    public var name: String
    /// The program's version.
    public var version: String
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// The creator of the recordings of ``HARRecorder``.
    public static let loadingKit = HARCreator(name: "LoadingKit", version: "1")

    /// Makes a program's entry.
    public init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    static var blank: HARCreator { HARCreator(name: "", version: "") }

    static let members: [HARMember<HARCreator>] = [
        .init("name", \.name), .init("version", \.version),
    ]
}
