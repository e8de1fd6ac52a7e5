extension URLResponse.MIMEType {
    /// The usual type of files with this extension (without the dot, any case), or nil when it is not known.
    public static func forPathExtension(_ pathExtension: String) -> String? {
        typesByExtension[pathExtension.asciiLowercased]
    }

    /// The usual type of files with this name, by its extension, or nil where it has no extension, or an unknown one.
    ///
    /// - Parameter name: a name, or a path. A leading dot does not start an extension.
    public static func forFilename(_ name: some StringProtocol) -> String? {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return nil }
        return forPathExtension(String(last[last.index(after: dot)...]))
    }

    /// The usual extension, without the dot, of a file with this type, or nil when it is not known.
    ///
    /// Parameters and case are ignored.
    public static func preferredExtension(for type: String) -> String? {
        let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return extensionsByType[String(essence).asciiLowercased]
    }

    private static let typesByExtension: [String: String] = {
        var result: [String: String] = [:]
        for (type, extensions) in table {
            for name in extensions.split(separator: " ") where result[String(name)] == nil {
                result[String(name)] = type
            }
        }
        return result
    }()

    private static let extensionsByType: [String: String] = {
        var result: [String: String] = [:]
        for (type, extensions) in table {
            result[type] = result[type] ?? extensions.split(separator: " ").first.map(String.init)
        }
        for (alias, type) in aliases {
            result[alias] = result[type]
        }
        return result
    }()

    /// Other names of types in the table, which servers still send.
    private static let aliases: [(alias: String, type: String)] = [
        ("application/javascript", "text/javascript"), ("application/x-javascript", "text/javascript"),
        ("application/x-gzip", "application/gzip"), ("application/x-zip-compressed", "application/zip"),
        ("application/x-rar-compressed", "application/vnd.rar"), ("application/x-yaml", "application/yaml"),
        ("text/yaml", "application/yaml"), ("text/x-yaml", "application/yaml"), ("text/xml", "application/xml"),
        ("image/jpg", "image/jpeg"), ("image/pjpeg", "image/jpeg"), ("image/x-png", "image/png"),
        ("image/x-icon", "image/vnd.microsoft.icon"), ("image/x-ms-bmp", "image/bmp"),
        ("audio/mp3", "audio/mpeg"), ("audio/x-wav", "audio/wav"), ("audio/wave", "audio/wav"),
        ("audio/vnd.wave", "audio/wav"), ("audio/x-aiff", "audio/aiff"), ("audio/x-m4a", "audio/mp4"),
        ("audio/x-flac", "audio/flac"), ("video/avi", "video/x-msvideo"), ("text/rtf", "application/rtf"),
        ("application/x-font-ttf", "font/ttf"), ("application/font-woff", "font/woff"),
        ("application/x-pdf", "application/pdf"),
    ]
}
