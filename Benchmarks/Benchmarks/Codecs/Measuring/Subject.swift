/// What a benchmark is about: the first word of its name, by which a run is filtered, and a table of the results.
enum Subject: String {
    case parser, chunked, fields, writer, hpack, frames, gzip

    /// The results' table.
    var group: String {
        switch self {
        case .parser: "HTTP/1.1 parser"
        case .chunked: "HTTP/1.1 chunked bodies"
        case .fields: "Field lookup"
        case .writer: "HTTP/1.1 writer"
        case .hpack: "HPACK"
        case .frames: "HTTP/2 frames"
        case .gzip: "gzip"
        }
    }
}
