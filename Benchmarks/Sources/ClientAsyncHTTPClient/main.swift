import AsyncHTTPClient
import ClientSupport
import NIOSSL

func makeConfiguration() throws -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Arguments.process.atATime
    guard let certificate = Arguments.process.certificate else { return configuration }
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(certificate)
    configuration.tlsConfiguration = tls
    return configuration
}

let loader = Loader(
    client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: try makeConfiguration()))
await LoadLoop(load: loader.load).run()
