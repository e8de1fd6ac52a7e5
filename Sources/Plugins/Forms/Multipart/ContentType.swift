/// The types of usual files, by the extension of their names.
enum ContentType {
    static let unknown = "application/octet-stream"

    /// The type for a file name's extension, whatever its case; `application/octet-stream` for others.
    static func forFilename(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return unknown }
        return table[name[name.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let table: [String: String] = {
        var table: [String: String] = [:]
        for line in lines {
            for name in line.extensions.split(separator: " ") { table[String(name)] = line.type }
        }
        return table
    }()

    private static let lines: [(type: String, extensions: String)] = [
        ("text/plain", "txt text log"), ("text/html", "html htm"), ("text/css", "css"), ("text/csv", "csv"),
        ("text/tab-separated-values", "tsv"), ("text/javascript", "js mjs"), ("text/markdown", "md markdown"),
        ("text/calendar", "ics"), ("text/vcard", "vcf"), ("text/vtt", "vtt"), ("application/json", "json map"),
        ("application/ld+json", "jsonld"), ("application/geo+json", "geojson"),
        ("application/x-ndjson", "ndjson jsonl"), ("application/xml", "xml xsd xsl"), ("application/yaml", "yaml yml"),
        ("application/toml", "toml"), ("application/pdf", "pdf"), ("application/rtf", "rtf"),
        ("application/postscript", "ps eps ai"), ("application/epub+zip", "epub"), ("application/wasm", "wasm"),
        ("application/msword", "doc dot"), ("application/vnd.ms-excel", "xls"),
        ("application/vnd.ms-powerpoint", "ppt"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
        ("application/vnd.oasis.opendocument.text", "odt"), ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
        ("application/vnd.oasis.opendocument.presentation", "odp"), ("application/zip", "zip"),
        ("application/gzip", "gz tgz"), ("application/x-bzip2", "bz2"), ("application/x-xz", "xz"),
        ("application/zstd", "zst"), ("application/x-7z-compressed", "7z"), ("application/vnd.rar", "rar"),
        ("application/x-tar", "tar"), ("application/java-archive", "jar war ear"),
        ("application/vnd.android.package-archive", "apk"), ("application/vnd.debian.binary-package", "deb"),
        ("application/x-rpm", "rpm"), ("application/x-apple-diskimage", "dmg"), ("application/x-iso9660-image", "iso"),
        ("application/x-sh", "sh"), ("application/x-sqlite3", "sqlite sqlite3 db"), ("application/x-pem-file", "pem"),
        ("application/x-x509-ca-cert", "crt cer der"), ("application/vnd.apache.parquet", "parquet"),
        ("image/png", "png"), ("image/jpeg", "jpg jpeg jpe"), ("image/gif", "gif"), ("image/svg+xml", "svg"),
        ("image/webp", "webp"), ("image/avif", "avif"), ("image/heic", "heic"), ("image/heif", "heif"),
        ("image/jxl", "jxl"), ("image/tiff", "tiff tif"), ("image/bmp", "bmp"), ("image/vnd.microsoft.icon", "ico"),
        ("image/vnd.adobe.photoshop", "psd"), ("audio/mpeg", "mp3"), ("audio/mp4", "m4a"), ("audio/aac", "aac"),
        ("audio/ogg", "ogg oga"), ("audio/opus", "opus"), ("audio/flac", "flac"), ("audio/wav", "wav"),
        ("audio/webm", "weba"), ("audio/aiff", "aiff aif"), ("audio/midi", "mid midi"), ("video/mp4", "mp4 m4v"),
        ("video/mpeg", "mpeg mpg"), ("video/quicktime", "mov qt"), ("video/webm", "webm"), ("video/ogg", "ogv"),
        ("video/x-matroska", "mkv"), ("video/x-msvideo", "avi"), ("video/mp2t", "ts m2ts"), ("video/3gpp", "3gp"),
        ("font/ttf", "ttf"), ("font/otf", "otf"), ("font/woff", "woff"), ("font/woff2", "woff2"),
        ("model/gltf+json", "gltf"), ("model/gltf-binary", "glb"), ("message/rfc822", "eml mht mhtml"),
    ]
}
