/// The media types of usual files, by the extension of their names.
enum MediaType {
    /// The type for a member's name, whatever the case of its extension; `application/octet-stream` for others.
    static func forName(_ name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return unknown }
        return table[last[last.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let table: [String: String] = {
        var table: [String: String] = [:]
        for (type, extensions) in lines {
            for name in extensions.split(separator: " ") { table[String(name)] = type }
        }
        return table
    }()

    private static let lines: [(type: String, extensions: String)] = [
        ("text/plain", "txt text log"), ("text/html", "html htm"), ("text/css", "css"), ("text/csv", "csv"),
        ("text/tab-separated-values", "tsv"), ("text/javascript", "js mjs"), ("text/markdown", "md markdown"),
        ("application/xhtml+xml", "xhtml xht"), ("application/json", "json map"), ("application/xml", "xml xsd xsl"),
        ("application/geo+json", "geojson"), ("application/x-ndjson", "ndjson jsonl"),
        ("application/yaml", "yaml yml"), ("application/toml", "toml"), ("application/pdf", "pdf"),
        ("application/rtf", "rtf"), ("application/epub+zip", "epub"), ("application/wasm", "wasm"),
        ("application/x-dtbncx+xml", "ncx"), ("application/oebps-package+xml", "opf"),
        ("application/zip", "zip whl"), ("application/gzip", "gz tgz"), ("application/x-tar", "tar"),
        ("application/zstd", "zst"), ("application/java-archive", "jar war ear"), ("application/java-vm", "class"),
        ("application/vnd.apache.parquet", "parquet"), ("application/x-sqlite3", "sqlite sqlite3"),
        ("image/png", "png"), ("image/jpeg", "jpg jpeg"), ("image/gif", "gif"), ("image/svg+xml", "svg"),
        ("image/webp", "webp"), ("image/avif", "avif"), ("image/heic", "heic"), ("image/tiff", "tiff tif"),
        ("image/bmp", "bmp"), ("image/vnd.microsoft.icon", "ico"), ("audio/mpeg", "mp3"), ("audio/mp4", "m4a"),
        ("audio/ogg", "ogg oga opus"), ("audio/flac", "flac"), ("audio/wav", "wav"), ("video/mp4", "mp4 m4v"),
        ("video/quicktime", "mov"), ("video/webm", "webm"), ("video/x-matroska", "mkv"), ("font/ttf", "ttf"),
        ("font/otf", "otf"), ("font/woff", "woff"), ("font/woff2", "woff2"), ("model/gltf-binary", "glb"),
    ]
}
