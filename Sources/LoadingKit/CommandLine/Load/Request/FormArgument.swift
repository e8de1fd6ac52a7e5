#if CommandLineTool
    import Foundation
    import LoadingKitForms

    /// The parts of `-F` and `--form-string`.
    enum FormArgument {
        /// Nil where there are none.
        ///
        /// - Parameter pieces: each is an option's name, a space, and the option's value.
        static func form(_ pieces: [String], readFile: (String) throws -> Data) throws -> MultipartForm? {
            guard !pieces.isEmpty else { return nil }
            var form = MultipartForm()
            for piece in pieces {
                let (option, value) = DataBody.split(piece)
                guard let equals = value.firstIndex(of: "="), equals > value.startIndex else {
                    throw ToolFailure(.usage, "-F needs NAME=CONTENT, not '\(value)'")
                }
                let (name, content) = (String(value[..<equals]), String(value[value.index(after: equals)...]))
                if option == "form-string" {
                    form.append(name, text: content)
                } else {
                    try append(name, content, to: &form, readFile)
                }
            }
            return form
        }

        private static func append(
            _ name: String, _ content: String, to form: inout MultipartForm, _ readFile: (String) throws -> Data
        ) throws {
            let (text, type, filename) = parameters(of: content)
            guard let mark = text.first, mark == "@" || mark == "<" else {
                let part = MultipartForm.Part(
                    name: name, filename: filename, contentType: type, content: .data(Data(text.utf8)))
                return form.parts.append(part)
            }
            let path = String(text.dropFirst())
            guard path == "-" || FileManager.default.isReadableFile(atPath: path) else {
                throw ToolFailure(.readError, "the form's file \(path) cannot be read")
            }
            if mark == "@", path != "-" {
                form.append(name, file: URL(fileURLWithPath: path), filename: filename, contentType: type)
            } else if mark == "@" {
                form.append(name, data: try readFile(path), filename: filename ?? "-", contentType: type)
            } else {
                // The bytes as they are. They are a text field: the server gets no file name.
                form.append(name, data: try readFile(path), contentType: type)
            }
        }

        /// The content without `;type=…` and `;filename=…`, and their values. A content in quotation marks has semicolons.
        private static func parameters(of content: String) -> (text: String, type: String?, filename: String?) {
            var pieces: [String] = [""]
            var isQuoted = false
            // A quotation mark elsewhere is a part of the text.
            let starts = ["", "@", "<", "filename=", "type="]
            var rest = content[...]
            while let character = rest.popFirst() {
                switch character {
                case "\""
                where isQuoted || starts.contains(pieces[pieces.count - 1].trimmingCharacters(in: .whitespaces)):
                    isQuoted.toggle()
                case "\\" where isQuoted && !rest.isEmpty: pieces[pieces.count - 1].append(rest.removeFirst())
                case ";" where !isQuoted: pieces.append("")
                case _: pieces[pieces.count - 1].append(character)
                }
            }
            var text = pieces[0]
            var (type, filename): (String?, String?)
            for piece in pieces.dropFirst() {
                let parameter = piece.trimmingCharacters(in: .whitespaces)
                if parameter.hasPrefix("type=") {
                    type = String(parameter.dropFirst(5))
                } else if parameter.hasPrefix("filename=") {
                    filename = String(parameter.dropFirst(9))
                } else if type != nil, parameter.contains("=") {
                    type = type.map { "\($0); \(parameter)" }
                } else {
                    text += ";\(piece)"
                }
            }
            return (text, type, filename)
        }
    }
#endif
