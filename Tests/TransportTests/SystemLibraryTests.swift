import Foundation
import TestSupport
import Testing

/// Where the headers of a system library are missing, the compiler says which packages have them, and nothing else.
@Suite struct SystemLibraryTests {
    static let system = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../Sources/LoadingKit/System").standardizedFileURL

    @Test(
        arguments: [
            ("CLoadingKitOpenSSL/shim.h", "libssl-dev", "openssl-devel"),
            ("CLoadingKitOpenSSLStart/start.c", "libssl-dev", "openssl-devel"),
            ("CLoadingKitZlib/shim.h", "zlib1g-dev", "zlib-devel"),
            ("CLoadingKitBrotli/shim.h", "libbrotli-dev", "brotli-devel"),
            ("CLoadingKitZstd/shim.h", "libzstd-dev", "libzstd-devel"),
            ("CLoadingKitPSL/shim.h", "libpsl-dev", "libpsl-devel"),
            ("CLoadingKitSQLite/shim.h", "libsqlite3-dev", "sqlite-devel"),
            ("CLoadingKitGSS/shim.h", "libkrb5-dev", "krb5-devel"),
        ]) func missingHeaders(_ file: String, _ debian: String, _ fedora: String) throws
    {
        let include = Self.system.appendingPathComponent("CLoadingKitOpenSSLStart/include").path
        let failure = #expect(throws: ServerProcessError.self) {
            // Without the system's folders no header of a library is found.
            try ToolRun.output(
                of: "clang",
                [
                    "-fsyntax-only", "-nostdinc", "-x", "c", "-I", include,
                    Self.system.appendingPathComponent(file).path,
                ], aptPackage: "clang")
        }
        let errors = (failure?.output ?? "").split(separator: "\n").filter { $0.contains("error:") }
        #expect(errors.count == 1, "\(errors)")
        let advice = "apt-get install \(debian), or dnf install \(fedora)"
        #expect(errors.first?.contains(advice) == true, "\(errors)")
    }

    /// No module of a system library is left out above.
    @Test func allModulesSayIt() throws {
        let modules = try FileManager.default.contentsOfDirectory(atPath: Self.system.path)
        let headers = modules.map { Self.system.appendingPathComponent("\($0)/shim.h") }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        #expect(headers.count == 7)
        for header in headers {
            #expect(try String(contentsOf: header, encoding: .utf8).contains("#error \"LoadingKit needs "), "\(header)")
        }
    }
}
