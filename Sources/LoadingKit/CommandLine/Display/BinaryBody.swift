import Foundation

/// Whether a body is text, and the name of one that is not.
enum BinaryBody {
    /// The number of bytes in which a NUL is looked for: curl's.
    static let searched = 2000

    private static let textTypes: Set<String> = [
        "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/yaml",
        "application/x-www-form-urlencoded", "application/x-ndjson", "application/sql", "application/graphql",
    ]

    /// - Parameters:
    ///   - start: the body's first bytes.
    ///   - type: the type that the response gives; nil for none.
    static func isBinary(_ start: [UInt8], type: String?) -> Bool {
        if start.prefix(searched).contains(0) { return true }
        let type = type?.lowercased() ?? ""
        if type.hasPrefix("text/") || type.hasSuffix("+xml") || type.hasSuffix("+json") || textTypes.contains(type) {
            return false
        }
        let text = start.dropLast(VisibleText.unfinishedCount(start))
        return String(validating: text, as: UTF8.self) == nil
            || text.contains { $0 < 0x20 && !(0x08...0x0d).contains($0) && $0 != 0x1b }
    }

    /// A name such as `a PNG image of 640 × 480 pixels, 1234 bytes`.
    ///
    /// - Parameter length: bytes; negative where it is not known.
    static func name(_ start: [UInt8], type: String?, length: Int64) -> String {
        let size = length >= 0 ? ", \(length) bytes" : ""
        guard let image = ImageFacts(start) else { return "binary (\(type ?? "of no type")\(size))" }
        let pixels = image.pixels.map { " of \($0.width) × \($0.height) pixels" } ?? ""
        return "\(image.format == "AVIF" ? "an" : "a") \(image.format) image\(pixels)\(size)"
    }
}

/// The format of an image, and its size where the beginning of the file has it.
struct ImageFacts {
    let format: String
    private(set) var pixels: (width: Int, height: Int)?

    /// Nil where the bytes are not the beginning of a known format.
    init?(_ bytes: [UInt8]) {
        func isAt(_ offset: Int, _ text: String) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
        /// A number in network byte order.
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= bytes.count else { return nil }
            return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        func size(_ width: Int?, _ height: Int?) -> (width: Int, height: Int)? {
            width.flatMap { width in height.map { (width, $0) } }
        }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            // PNG §5.3, §11.2.2: a chunk's length and name, then width and height.
            (format, pixels) = ("PNG", isAt(12, "IHDR") ? size(number(16, 4), number(20, 4)) : nil)
        } else if isAt(0, "GIF87a") || isAt(0, "GIF89a") {
            (format, pixels) = ("GIF", size(number(6, 2)?.swapped, number(8, 2)?.swapped))
        } else if bytes.starts(with: [0xff, 0xd8, 0xff]) {
            format = "JPEG"
            // ITU-T T.81 §B.1.1: segments with a marker and a length. That of a frame (SOF) has height and width.
            var offset = 2
            while let marker = number(offset, 2), let length = number(offset + 2, 2), marker >= 0xff01, length >= 2 {
                let isFrame = (0xffc0...0xffcf).contains(marker) && ![0xffc4, 0xffc8, 0xffcc].contains(marker)
                if isFrame {
                    pixels = size(number(offset + 7, 2), number(offset + 5, 2))
                    break
                }
                offset += 2 + length
            }
        } else if isAt(0, "RIFF"), isAt(8, "WEBP") {
            format = "WebP"
        } else if isAt(4, "ftypavif") {
            format = "AVIF"
        } else {
            return nil
        }
    }
}

extension Int {
    /// A number of two bytes in the other byte order.
    fileprivate var swapped: Int { Int(UInt16(truncatingIfNeeded: self).byteSwapped) }
}
