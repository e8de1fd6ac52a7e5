import CommonNames
import Foundation
import ImportedAlone
import TestSupport
import Testing

/// What a program sees through `import LoadingKit`. That `ImportedAlone` compiles is most of the test: it is no part of the
/// package as the compiler knows it, so that it sees what is public alone.
@Suite struct ImportTests {
    @Test func theStandardLibrarysCollectionsAreItsOwn() {
        #expect(
            collectionIdioms() == [
                "Ann, Bob, Eve", "Ann: 40\nBob: 30\nEve: 40", "'Ann','Bob','Eve'", "ab", "[1, 2, 3]", "[1, 0, 2]",
                "A n n - B o b - E v e", "[\"Bob\", \"Eve\", \"Ann\"]", "[\"Bob\", \"Eve\", \"Ann\"]", "[1, 3]", "true",
                "[\"Ann1\", \"Bob1\", \"Eve1\"]", "2", "[\"Ann\", \"Eve\"]", "[2, 30, 40, 41]",
                "[\"Bob\", \"Ann\", \"Eve\"]", "[\"Eve\", \"Ann\", \"Bob\"]", "Ann", "Ann", "Ann", "true",
                "[\"Ann\", \"Bob\", \"Eve\", \"Bob\"]", "Ann40|Bob30|Eve40", "[\"0Ann\", \"1Bob\", \"2Eve\"]",
                "[[\"Ann\"], [\"Eve\"]]", "[\"Eve\", \"Bob\", \"Ann\"] 1", "[\"Ann\", \"Eve\", \"Zoe\"]", "[0, 10]",
                "20",
                "7", "[2, 3]",
            ])
    }

    @Test func theStandardLibrarysTextIsItsOwn() {
        #expect(
            textIdioms() == [
                "[[\"key\", \"value\"], [\"other\", \"2\"]]", " value", "KEY2", "4", "value; other=2", "6b 65 79",
                "[\"three\"]", "2=", "key_=_value;_other=2", "true", "0007", "key = value&other=2", "a=1&b=2", "hi42",
            ])
    }

    @Test func theRestOfTheStandardLibraryIsItsOwn() {
        #expect(
            otherIdioms() == [
                "[\"1\", \"odd\"]", "2", "[3, 3, 3]", "30", "30 40", "[1, 9, 3, 2, 4]", "[\"a\", \"b\"]", "a",
                "nothing",
                "true", "7",
            ])
    }

    @Test func whatIsLoadingKitsNeedsNoOtherImport() {
        #expect(loadingIdioms() == ["a=1; b=1", "a/b"])
    }

    @Test func programsMakeDoublesOfSessionsAndOfTheirValues() {
        #expect(
            doubles() == [
                "answer", "0", "7", "0", "[0, 0]", "mock.example", "true", "mock", "true", "5", "true", "0", "0",
            ])
    }

    @Test func foundationIsItsOwn() throws {
        #expect(
            try foundationIdioms() == [
                "b c", "a=1&b=2", "[\"a\", \"b\", \"c\"]", "A+B", "74657874", "ex453", "[\"a\": [1, 2]]", "[1.0, 2.0]",
                "A: 1, B: 2", "true", "NSURLErrorDomain -999", "a<b",
            ])
    }

    /// Members are found whatever is imported in a file, in each module that the compiler has loaded.
    @Test func nothingIsAddedToTypesOfOthersButWhatAppleAdds() async throws {
        let (modules, members) = try await onThread {
            let extensions = try VisibleExtensions()
            let modules = try extensions.loadedModules()
            return (modules, try modules.flatMap { try extensions.members(addedBy: $0) }.sorted())
        }
        #expect(modules.contains("LoadingKitCore") && modules.contains("DequeModule"), "\(modules)")
        let own = members.filter { !$0.contains("Reason.") }  // the members of enumerations that are new
        #expect(
            own == [
                "LoadingKitCore: NSNotification.Name.NSHTTPCookieManagerAcceptPolicyChanged",
                "LoadingKitCore: NSNotification.Name.NSHTTPCookieManagerCookiesChanged",
                "LoadingKitCore: NSNotification.Name.NSURLCredentialStorageChanged",
                "LoadingKitCore: OutputStream.close(throwing:)",
                "LoadingKitCore: Stream.getBoundStreams(withBufferSize:inputStream:outputStream:)",
                "LoadingKitCore: URLError.BackgroundTaskCancelledReason",
                "LoadingKitCore: URLError.NetworkUnavailableReason",
                "LoadingKitCore: URLError.backgroundTaskCancelledReason",
                "LoadingKitCore: URLError.downloadTaskResumeData",
                "LoadingKitCore: URLError.failureURLPeerTrust",
                "LoadingKitCore: URLError.loadRecord",
                "LoadingKitCore: URLError.networkUnavailableReason",
                "LoadingKitCore: URLError.uploadTaskResumeData",
            ])
    }

    /// The names of targets are unique in all packages of a program, which cannot be resolved else.
    @Test func noSystemLibraryHasANameThatOtherPackagesGiveToTheirs() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: VisibleExtensions.systemLibraries.path)
        #expect(names.contains("CLoadingKitShims") && names.allSatisfy { $0.hasPrefix("CLoadingKit") }, "\(names)")
    }

    @Test func namesOfOtherLibrariesAreTheirs() {
        #expect(namesOfOthers.allSatisfy { "\(type(of: $0))" == "\($0)".dropLast(2) })
        #expect(namesOfOthers.count == 38 && namesOfOthers.contains { $0 is CommonNames.HTTPFields })
    }
}
