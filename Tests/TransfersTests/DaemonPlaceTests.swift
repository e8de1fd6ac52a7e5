import Foundation
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct DaemonPlaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func theEnvironmentNamesIt() throws {
        let place = try DaemonPlace.find(["XDG_RUNTIME_DIR": folder.path])
        #expect(place.socket == folder.path + "/loadkit/daemon.socket")
        #expect(place.lock == folder.path + "/loadkit/daemon.lock")
    }

    @Test func theUsualFolderIsTakenWhereItIsOurs() throws {
        let usual = folder.path + "/\(geteuid())"
        #expect(Self.problem { try DaemonPlace.find([:], usualFolders: folder.path) }.contains("runsInProcess"))
        try FileManager.default.createSymbolicLink(atPath: usual, withDestinationPath: "/tmp")
        #expect(Self.problem { try DaemonPlace.find([:], usualFolders: folder.path) }.contains("runsInProcess"))
        try FileManager.default.removeItem(atPath: usual)
        try FileManager.default.createDirectory(atPath: usual, withIntermediateDirectories: true)
        #expect(try DaemonPlace.find([:], usualFolders: folder.path).folder == usual + "/loadkit")
        #expect(try DaemonPlace.find(["XDG_RUNTIME_DIR": ""], usualFolders: folder.path).folder == usual + "/loadkit")
    }

    @Test func aNameThatIsNoFolderIsRefused() throws {
        #expect(Self.problem { try DaemonPlace.find(["XDG_RUNTIME_DIR": "run"]) }.contains("not an absolute path"))
        let gone = folder.path + "/gone"
        #expect(Self.problem { try DaemonPlace.find(["XDG_RUNTIME_DIR": gone]) }.contains("names no folder"))
    }

    /// As `su` and `sudo -E` leave it in the environment of root.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func anotherUsersNamedFolderIsNotTaken() throws {
        let (other, usual) = (folder.path + "/other", folder.path + "/\(geteuid())")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        chown(other, 65_534, 65_534)
        let find = { [folder] in try DaemonPlace.find(["XDG_RUNTIME_DIR": other], usualFolders: folder.path) }
        #expect(Self.problem(find).contains("another user"))
        try FileManager.default.createDirectory(atPath: usual, withIntermediateDirectories: true)
        #expect(try find().folder == usual + "/loadkit")
    }

    @Test func theFolderIsMadeForItsUserAlone() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        for _ in 0..<2 { try place.prepare() }
        let mode = try FileManager.default.attributesOfItem(atPath: place.folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func whatIsInTheWayIsRefused() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        try folder.write("", to: "loadkit")
        #expect(Self.problem { try place.prepare() }.contains("is not a folder"))
        try FileManager.default.removeItem(atPath: place.folder)
        try FileManager.default.createSymbolicLink(atPath: place.folder, withDestinationPath: folder.path)
        #expect(Self.problem { try place.prepare() }.contains("symbolic link"))
        try FileManager.default.removeItem(atPath: place.folder)
        try FileManager.default.createDirectory(
            atPath: place.folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        #expect(Self.problem { try place.prepare() }.contains("0700"))
        let deeper = DaemonPlace(folder: folder.path + "/gone/loadkit")
        #expect(Self.problem { try deeper.prepare() }.contains("cannot be made"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func anotherUsersFolderIsRefused() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        try place.prepare()
        chown(place.folder, 65_534, 65_534)
        #expect(Self.problem { try place.prepare() }.contains("another user"))
    }

    @Test func aPathThatIsTooLongIsRefused() throws {
        let name = String(repeating: "x", count: 107 - folder.path.utf8.count - "//daemon.socket".utf8.count)
        try DaemonPlace(folder: folder.path + "/" + name).prepare()
        let longer = DaemonPlace(folder: folder.path + "/" + name + "y")
        #expect(Self.problem { try longer.prepare() }.contains("more than 107 bytes"))
        #expect(Self.problem { try DaemonPlace(folder: "/a\0b").prepare() }.contains("NUL"))
    }

    // MARK: The listener

    @Test func oneDaemonAtATimeListens() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        var first = try DaemonListener(place)
        #expect(first != nil)
        #expect(try DaemonListener(place) == nil)
        first = nil
        #expect(try DaemonListener(place) != nil)
    }

    @Test func theSocketOfADaemonThatHasEndedIsRemoved() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        try place.prepare()
        try ListeningSocket(place.socket).close()
        let listener = try DaemonListener(place)
        #expect(listener != nil)
        #expect(!FileManager.default.fileExists(atPath: place.socket))
    }

    @Test func aFileInTheSocketsPlaceIsRefused() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        try place.prepare()
        try folder.write("precious", to: "loadkit/daemon.socket")
        #expect(Self.problem { try DaemonListener(place) }.contains("in the way"))
        #expect(try String(contentsOf: folder.file("loadkit/daemon.socket"), encoding: .utf8) == "precious")
    }

    @Test func aLinkInTheLocksPlaceIsRefused() throws {
        let place = DaemonPlace(folder: folder.path + "/loadkit")
        try place.prepare()
        try FileManager.default.createSymbolicLink(atPath: place.lock, withDestinationPath: folder.path + "/other")
        #expect(Self.problem { try DaemonListener(place) }.contains("daemon.lock"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/other"))
    }

    // MARK: The program

    @Test func theProgramIsNamedOrInThePath() throws {
        let program = folder.path + "/loadkitd"
        #expect(Self.problem { try DaemonProgram.find(["LOADKITD": program]) }.contains(program))
        try folder.write("", to: "loadkitd")
        chmod(program, 0o755)
        #expect(try DaemonProgram.find(["LOADKITD": program]).path == program)
        // Beside the tests.
        let own = try ProgramRun.executable("loadkitd")
        #expect(try DaemonProgram.find(["PATH": folder.path]).path == own)
        // The caller of a set-ID program does not choose what has its rights.
        #expect(try DaemonProgram.find(["LOADKITD": program], isSetID: true).path == own)
    }

    // MARK: The log

    /// Also where `HOME` is not set, as the journal is.
    @Test func theLogIsBesideTheJournal() {
        let name = "/.local/state/loadkit/daemon.log"
        #expect(DaemonLog.path(["HOME": "/h"]) == "/h" + name)
        #expect(DaemonLog.path(["HOME": "/h", "XDG_STATE_HOME": "/s/"]) == "/s/loadkit/daemon.log")
        #expect(DaemonLog.path([:]).hasSuffix(name))
    }

    @Test func theLogIsBounded() throws {
        let log = DaemonLog(path: folder.path + "/state/loadkit/daemon.log", limit: 1000)
        for number in 0..<100 { log.write("line \(number)\u{1b}\n") }
        let text = try String(contentsOf: folder.file("state/loadkit/daemon.log"), encoding: .utf8)
        let former = try String(contentsOf: folder.file("state/loadkit/daemon.log.1"), encoding: .utf8)
        #expect(text.hasSuffix("line 99  \n"))
        #expect(text.utf8.count <= 1000 && former.utf8.count <= 1000)
        #expect(try folder.contents() == ["state"])
    }

    private static func problem<Value>(_ body: () throws -> Value) -> String {
        do {
            _ = try body()
            return "there was none"
        } catch {
            return "\(error)"
        }
    }
}
