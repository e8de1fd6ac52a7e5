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
                guard let (name, _, content) = value.cut(at: "="), !name.isEmpty else {
                    throw ToolFailure(.usage, "-F needs NAME=CONTENT, not '\(value)'")
                }
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
            guard let mark = text.unicodeScalars.first, mark == "@" || mark == "<" else {
                let part = MultipartForm.Part(
                    name: name, filename: filename, contentType: type, content: .data(Data(text.utf8)))
                return form.parts.append(part)
            }
            let path = String(text.unicodeScalars.dropFirst())
            guard path == "-" || FileManager.default.isReadableFile(atPath: path) else {
                throw ToolFailure(.readError, "the form's file \(path) cannot be read")
            }
            let file = URL(fileURLWithPath: path)
            if mark == "@", path != "-", !InputFile.isStream(path) {
                form.append(name, file: file, filename: filename, contentType: type)
            } else if mark == "@" {
                let bytes = try bytes(of: path, readFile)
                form.append(name, data: bytes, filename: filename ?? file.lastPathComponent, contentType: type)
            } else {
                // The bytes as they are. They are a text field: the server gets no file name.
                form.append(name, data: try bytes(of: path, readFile), contentType: type)
            }
        }

        private static func bytes(of path: String, _ readFile: (String) throws -> Data) throws -> Data {
            do {
                return try readFile(path)
            } catch {
                throw ToolFailure(.readError, "the form: \(error.localizedDescription)")
            }
        }

        /// The content without `;type=…` and `;filename=…`, and their values. A content in quotation marks has semicolons.
        private static func parameters(of content: String) -> (text: String, type: String?, filename: String?) {
            // Scalars, as a combining mark forms one character with a semicolon before it.
            var pieces = [String.UnicodeScalarView()]
            var isQuoted = false
            // A quotation mark elsewhere is a part of the text.
            let starts = ["", "@", "<", "filename=", "type="]
            var rest = content.unicodeScalars[...]
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\""
                where isQuoted
                    || starts.contains(String(pieces[pieces.count - 1]).trimmingCharacters(in: .whitespaces)):
                    isQuoted.toggle()
                case "\\" where isQuoted && !rest.isEmpty: pieces[pieces.count - 1].append(rest.removeFirst())
                case ";" where !isQuoted: pieces.append(String.UnicodeScalarView())
                case _: pieces[pieces.count - 1].append(scalar)
                }
            }
            var text = String(pieces[0])
            var (type, filename): (String?, String?)
            for piece in pieces.dropFirst().map({ String($0) }) {
                let parameter = piece.trimmingCharacters(in: .whitespaces)
                let pair = parameter.cut(at: "=")
                if let pair, pair.head == "type" {
                    type = pair.tail
                } else if let pair, pair.head == "filename" {
                    filename = pair.tail
                } else if let known = type, pair != nil {
                    type = "\(known); \(parameter)"
                } else {
                    text += ";\(piece)"
                }
            }
            return (text, type, filename)
        }
    }
#endif
