#if CommandLineTool
    import Foundation
    @_spi(LoadingKitPlugins) import LoadingKitPrimitives

    /// The data of `-d` and its relatives.
    struct DataBody: Hashable {
        let bytes: Data
        let isJSON: Bool

        /// Nil where there are no pieces. Pieces are joined with `&`, those of `--json` without it.
        ///
        /// - Parameter pieces: each is an option's name, a space, and the option's value.
        init?(_ pieces: [String], readFile: (String) throws -> Data) throws {
            guard !pieces.isEmpty else { return nil }
            var bytes = Data()
            var isJSON = false
            for (index, piece) in pieces.enumerated() {
                let (name, value) = Self.split(piece)
                if index > 0, name != "json" { bytes.append(UInt8(ascii: "&")) }
                if name == "json" { isJSON = true }
                bytes += try Self.bytes(name, value, readFile)
            }
            self.bytes = bytes
            self.isJSON = isJSON
        }

        static func split(_ piece: String) -> (name: String, value: String) {
            let parts = piece.cut(at: " ")
            return (parts?.head ?? piece, parts?.tail ?? "")
        }

        private static func bytes(_ name: String, _ value: String, _ readFile: (String) throws -> Data) throws
            -> Data
        {
            let path = String(value.unicodeScalars.dropFirst())
            return switch name {
            case "data-raw": Data(value.utf8)
            case "data-urlencode": Data(try encoded(value, readFile).utf8)
            case _ where value.unicodeScalars.first != "@": Data(value.utf8)
            case "data-binary", "json": try content(path, readFile)
            case _: try content(path, readFile).filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            }
        }

        /// `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`, with the text or content encoded.
        static func encoded(_ value: String, _ readFile: (String) throws -> Data) throws -> String {
            guard let (name, mark, rest) = value.cut(at: "=", "@") else {
                return PercentCoding.encoded(value)
            }
            let text = mark == "=" ? Data(rest.utf8) : try content(rest, readFile)
            return (name.isEmpty ? "" : "\(name)=") + PercentCoding.encoded(Array(text))
        }

        private static func content(_ path: String, _ readFile: (String) throws -> Data) throws -> Data {
            do {
                return try readFile(path)
            } catch {
                throw ToolFailure(.readError, "the data: \(error.localizedDescription)")
            }
        }
    }
#endif
