#!/usr/bin/env bash
# Builds all tests, without what only editors and debuggers read: the index and the debug information are a third of a build's time.
#
# The package manager finds tests of XCTest in the index. There are none, and it does not look for them while the tests have a main
# program of their own, which is there during this build alone.
set -euo pipefail
cd "$(dirname "$0")/.."
main=Tests/XCTMain.swift
trap 'rm -f "$main"' EXIT
cat >"$main" <<'END'
import Testing

@main
struct TestProgram {
    /// `swift test` starts the program without this option for the tests of XCTest.
    static func main() async {
        let arguments = CommandLine.arguments
        guard let option = arguments.firstIndex(of: "--testing-library"),
            arguments.dropFirst(option + 1).first == "swift-testing"
        else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
END
swift build --build-tests --enable-all-traits --disable-index-store -debug-info-format none "$@"
