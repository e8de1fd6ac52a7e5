import LoadingKitLoopbackServer

// The types of the loopback server's module that tests use, so that `import TestSupport` is enough.
package typealias Box = LoadingKitLoopbackServer.Box
package typealias CertificateAuthority = LoadingKitLoopbackServer.CertificateAuthority
package typealias CertificateTemplate = LoadingKitLoopbackServer.CertificateTemplate
package typealias LoopbackAddress = LoadingKitLoopbackServer.LoopbackAddress
package typealias Recorder = LoadingKitLoopbackServer.Recorder
package typealias ServerIdentity = LoadingKitLoopbackServer.ServerIdentity
package typealias Signal = LoadingKitLoopbackServer.Signal
package typealias TLSFacts = LoadingKitLoopbackServer.TLSFacts
package typealias TLSServerOptions = LoadingKitLoopbackServer.TLSServerOptions
package typealias TLSVersion = LoadingKitLoopbackServer.TLSVersion
