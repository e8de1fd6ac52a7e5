import Foundation
import LoadingKit
import LoadingKitS3

/// Stores a file in a bucket, loads it again, and lists the other files of its folder. Credentials and region are those of
/// the environment, as for Amazon's own tools.
///
///     swift run UseBucketExample s3://bucket/folder/notes.txt notes.txt
@main
enum UseBucket {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]), let address = try? S3Address(url) else {
            print("usage: UseBucketExample s3://BUCKET/KEY FILE")
            exit(2)
        }
        let configuration = URLSessionConfiguration.ephemeral
        S3Client().install(in: configuration)
        let session = URLSession(configuration: configuration)
        do {
            var put = URLRequest(url: url)
            put.httpMethod = "PUT"
            put.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            _ = try await session.upload(for: put, fromFile: URL(fileURLWithPath: arguments[2]))

            let (data, _) = try await session.data(from: url)
            print("stored and loaded \(data.count) bytes")

            let folder = address.key.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let prefix = folder.map { "\($0)/" }.joined()
            for try await object in S3(session).objects(in: address.bucket, prefix: prefix) {
                print("\(object.size) \(object.key)")
            }
        } catch let error as S3Error where error.kind == .noSuchBucket {
            print("there is no bucket \(address.bucket)")
            exit(1)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}
