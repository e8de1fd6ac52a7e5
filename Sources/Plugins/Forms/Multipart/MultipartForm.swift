import Foundation
import LoadingKit

/// A form like a browser's form with files: `multipart/form-data` (RFC 7578), of any size.
///
///     var form = MultipartForm()
///     form.append("title", text: "Holidays")
///     form.append("photo", file: URL(fileURLWithPath: "beach.jpg"))
///     let (answer, response) = try await session.upload(for: request, form: form)
///
/// The form is a description: nothing is read before the body is sent, and files and streams are never completely in
/// memory. It is a value that may be sent repeatedly.
public struct MultipartForm: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [Part] = []

    /// The separator of the parts; nil, the default, for a new random one of 32 characters (190 bits) for each body.
    ///
    /// A boundary set here must have 1 to 70 characters that RFC 2046 §5.1.1 permits. It must not occur in the content:
    /// this is checked for data and text, and not for files and streams.
    public var boundary: String?

    /// Makes a form without parts.
    public init(boundary: String? = nil) { self.boundary = boundary }

    /// Appends a text field, in UTF-8. The text is sent unchanged, including its line ends.
    ///
    /// - Parameter contentType: `Content-Type` of the part; none by default, as in browsers.
    public mutating func append(_ name: String, text: String, contentType: String? = nil) {
        parts.append(Part(name: name, contentType: contentType, content: .data(Data(text.utf8))))
    }

    /// Appends data.
    ///
    /// - Parameters:
    ///   - filename: a file name, which marks the part as a file for the server.
    ///   - contentType: by default the type of the file name's extension; without a file name, none.
    public mutating func append(_ name: String, data: Data, filename: String? = nil, contentType: String? = nil) {
        let type = contentType ?? filename.map { Self.contentType(ofFile: $0) }
        parts.append(Part(name: name, filename: filename, contentType: type, content: .data(data)))
    }

    /// Appends a file, which is read while it is sent.
    ///
    /// Its size is determined when the body is made (``makeBody(allowsUnknownLength:)``), and checked when the file is
    /// opened and when its end is reached. A changed size ends the upload with an error.
    ///
    /// - Parameters:
    ///   - filename: the file name for the server; by default the last component of the path.
    ///   - contentType: by default the type of the file name's extension, or `application/octet-stream`.
    public mutating func append(_ name: String, file: URL, filename: String? = nil, contentType: String? = nil) {
        let filename = filename ?? file.lastPathComponent
        let type = contentType ?? Self.contentType(ofFile: filename)
        parts.append(Part(name: name, filename: filename, contentType: type, content: .file(file)))
    }

    /// Appends the bytes of a stream.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the stream. Without it the body is sent in chunks, where that is permitted. A
    ///     stream of another length ends the upload with an error.
    ///   - makeStream: called for each body, on the thread that reads it: the body may have to be sent again.
    public mutating func append(
        _ name: String, length: Int64? = nil, filename: String? = nil, contentType: String? = nil,
        stream makeStream: @escaping @Sendable () throws -> InputStream
    ) {
        let type = contentType ?? filename.map { Self.contentType(ofFile: $0) }
        parts.append(
            Part(name: name, filename: filename, contentType: type, content: .stream(length: length, makeStream)))
    }

    /// Appends the pieces of an asynchronous sequence. The next piece is requested after the previous one was taken.
    ///
    /// - Parameters:
    ///   - length: the total number of bytes of the pieces. Without it the body is sent in chunks, where that is
    ///     permitted. Pieces of another length end the upload with an error.
    ///   - makePieces: called for each body: the body may have to be sent again.
    public mutating func append<Pieces: AsyncSequence>(
        _ name: String, length: Int64? = nil, filename: String? = nil, contentType: String? = nil,
        pieces makePieces: @escaping @Sendable () async throws -> Pieces
    ) where Pieces.Element: DataProtocol {
        let type = contentType ?? filename.map { Self.contentType(ofFile: $0) }
        let content = Part.Content.pieces(length: length, PieceProducer(make: makePieces).produce)
        parts.append(Part(name: name, filename: filename, contentType: type, content: content))
    }
}

/// Iterates over an asynchronous sequence, and passes on its pieces.
private struct PieceProducer<Pieces: AsyncSequence>: Sendable where Pieces.Element: DataProtocol {
    let make: @Sendable () async throws -> Pieces

    func produce(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        for try await piece in try await make() { try await deliver(Data(piece)) }
    }
}

extension MultipartForm {
    private static func contentType(ofFile name: String) -> String {
        URLResponse.MIMEType.forFilename(name) ?? "application/octet-stream"
    }

    /// One entry of the form.
    public struct Part: Sendable {
        /// The source of the part's bytes.
        public enum Content: Sendable {
            /// Bytes in memory.
            case data(Data)
            /// A regular file.
            case file(URL)
            /// A new stream for each body; its length in bytes, where it is known.
            case stream(length: Int64?, @Sendable () throws -> InputStream)
            /// The pieces that the function delivers; their total length in bytes, where it is known.
            case pieces(
                length: Int64?, @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void)
        }

        /// The entry's name. Any text: line ends and quotation marks are percent-encoded as in the HTML standard.
        public var name: String
        /// The file name for the server; nil for an entry that is not a file.
        public var filename: String?
        /// `Content-Type`; nil for none, which means `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// Further fields of the part's head. Servers ignore them (RFC 7578 §4.8).
        public var fields: [(name: String, value: String)]
        /// The source of the part's bytes.
        public var content: Content

        /// Makes a part with these properties.
        public init(
            name: String, filename: String? = nil, contentType: String? = nil,
            fields: [(name: String, value: String)] = [], content: Content
        ) {
            self.name = name
            self.filename = filename
            self.contentType = contentType
            self.fields = fields
            self.content = content
        }
    }
}
