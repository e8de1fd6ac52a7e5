import Foundation

/// Text for standard output. A reader that went away misses nothing it would want to know.
enum StandardOutput {
    static func write(_ text: String) {
        _ = DescriptorWriter(STDOUT_FILENO).write(Array(text.utf8))
    }
}
