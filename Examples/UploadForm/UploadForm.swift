import Foundation
import LoadingKit
import LoadingKitForms

/// Uploads a file of any size with a form, as a browser does, and prints what the server says.
///
///     swift run UploadFormExample https://example.org/upload photo.jpg "A day at the sea"
@main
enum UploadForm {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[1]) else {
            print("usage: UploadFormExample URL FILE TITLE")
            exit(2)
        }
        var form = MultipartForm()
        form.append("title", text: arguments[3])
        form.append("file", file: URL(fileURLWithPath: arguments[2]))
        do {
            let (answer, response) = try await URLSession.shared.upload(for: URLRequest(url: url), form: form)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 200
            print("\(status): \(String(decoding: answer, as: UTF8.self))")
        } catch {
            // A file that is not there, or that changes while it is sent, is an error, too.
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}
