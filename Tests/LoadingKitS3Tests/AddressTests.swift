import Foundation
import Testing

@testable import LoadingKitS3

@Suite struct AddressTests {
    @Test func urls() throws {
        let cases: [(url: String, bucket: String, key: String)] = [
            ("s3://bucket/key", "bucket", "key"), ("S3://bucket/key", "bucket", "key"), ("s3://bucket", "bucket", ""),
            ("s3://bucket/", "bucket", ""), ("s3://bucket/?prefix=a/b", "bucket", ""),
            ("s3://bucket/a//b/", "bucket", "a//b/"), ("s3://bucket//a", "bucket", "/a"),
            ("s3://bucket/a/../b/./c", "bucket", "a/../b/./c"), ("s3://bucket/a+b%2Bc%20d", "bucket", "a+b+c d"),
            ("s3://bucket/a%3Fb%23c%25d", "bucket", "a?b#c%d"), ("s3://bucket/%E1%88%B4", "bucket", "ሴ"),
            ("s3://bucket/%F0%9F%98%80?versionId=1", "bucket", "😀"), ("s3://My_Bucket.1/k", "My_Bucket.1", "k"),
        ]
        let wrong = try cases.filter { sample in
            let address = try S3Address(try #require(URL(string: sample.url)))
            return address.bucket != sample.bucket || address.key != sample.key
        }
        #expect(wrong.map(\.url) == [])
    }

    @Test func urlsThatAreRefused() throws {
        let cases: [(url: String, error: S3AddressError)] = [
            ("http://bucket/key", .notS3(scheme: "http")), ("s3:bucket/key", .notS3(scheme: "s3")),
            ("s3:///key", .invalidBucket("")), ("s3://ab/key", .invalidBucket("ab")),
            ("s3://.../key", .invalidBucket("...")), ("s3://bucket/a#b", .hasFragment),
            ("s3://user:secret@bucket/a", .hasUserOrPort), ("s3://bucket:80/a", .hasUserOrPort),
            ("s3://bucket/\(String(repeating: "a", count: 1025))", .keyTooLong(1025)),
        ]
        for sample in cases {
            let url = try #require(URL(string: sample.url))
            #expect(throws: sample.error) { try S3Address(url) }
        }
        #expect(!"\(S3AddressError.hasUserOrPort)".contains("secret"))
    }

    /// A key with any bytes is unchanged after the round trip through a URL.
    @Test func everyByte() throws {
        let key = (0...255).map { UInt8($0) }
        let address = try S3Address(bucket: "bucket", keyBytes: key)
        #expect(try S3Address(address.url).keyBytes == key)
        #expect(
            try S3Address(bucket: "bucket", key: "a b/+ü?#%").url.absoluteString
                == "s3://bucket/a%20b/%2B%C3%BC%3F%23%25")
    }

    @Test func targets() throws {
        let amazon = S3Endpoint(addressing: .automatic, usesDualStack: false)
        let path = S3Endpoint(addressing: .path, usesDualStack: true)
        func custom(_ text: String, _ addressing: S3Options.Addressing = .automatic) throws -> S3Endpoint {
            try S3Endpoint(try #require(URL(string: text)), addressing: addressing)
        }
        let cases: [(endpoint: S3Endpoint, bucket: String, key: String, region: String, url: String)] = [
            (amazon, "bucket", "a/b", "eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com/a/b"),
            (amazon, "bucket", "", "eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com/"),
            (amazon, "my.bucket", "k", "us-east-1", "https://s3.us-east-1.amazonaws.com/my.bucket/k"),
            (amazon, "My_Bucket", "k", "us-east-1", "https://s3.us-east-1.amazonaws.com/My_Bucket/k"),
            (amazon, "-bucket", "k", "us-east-1", "https://s3.us-east-1.amazonaws.com/-bucket/k"),
            (amazon, "bucket", "k", "cn-north-1", "https://bucket.s3.cn-north-1.amazonaws.com.cn/k"),
            (path, "bucket", "", "eu-west-1", "https://s3.dualstack.eu-west-1.amazonaws.com/bucket"),
            (try custom("http://127.0.0.1:9000"), "bucket", "a//..", "x", "http://127.0.0.1:9000/bucket/a//.."),
            (try custom("https://Minio.example:443/base/"), "bucket", "k", "x", "https://minio.example/base/bucket/k"),
            (try custom("http://s3.local:9000", .virtualHost), "bucket", "k", "x", "http://bucket.s3.local:9000/k"),
            (try custom("http://s3.local", .virtualHost), "my.bucket", "k", "x", "http://my.bucket.s3.local/k"),
            (try custom("https://s3.local", .virtualHost), "my.bucket", "k", "x", "https://s3.local/my.bucket/k"),
            (try custom("http://B%C3%BCcher.eu"), "bucket", "k", "x", "http://xn--bcher-kva.eu/bucket/k"),
            (try custom("http://[::1]:9000"), "bucket", "+ü", "x", "http://[::1]:9000/bucket/%2B%C3%BC"),
        ]
        let wrong = try cases.compactMap { sample -> String? in
            let target = sample.endpoint.target(
                try S3Address(bucket: sample.bucket, key: sample.key), region: sample.region)
            let url = "\(target.scheme)://\(target.authority)\(target.path)"
            return url == sample.url ? nil : "\(url), not \(sample.url)"
        }
        #expect(wrong == [])
    }

    @Test func endpointsThatAreRefused() throws {
        for text in ["ftp://host", "http://", "https://user:secret@host", "https://host?a", "https://host#a", "host"] {
            let url = try #require(URL(string: text))
            let error = #expect(throws: S3OptionsError.self) { try S3Endpoint(url, addressing: .automatic) }
            #expect("\(String(describing: error))".contains("secret") == false)
        }
    }

    /// Signature and token are sent only to the endpoint's own hosts.
    @Test func redirects() throws {
        let amazon = S3Endpoint(addressing: .automatic, usesDualStack: false)
        let custom = try S3Endpoint(try #require(URL(string: "http://127.0.0.1:9000")), addressing: .automatic)
        let cases: [(endpoint: S3Endpoint, url: String, region: String?)] = [
            (amazon, "https://bucket.s3.eu-west-1.amazonaws.com/k", "eu-west-1"),
            (amazon, "https://bucket.s3-eu-west-1.amazonaws.com/k", "eu-west-1"),
            (amazon, "https://s3.dualstack.eu-west-1.amazonaws.com/bucket/k", "eu-west-1"),
            (amazon, "https://bucket.s3.amazonaws.com/k", "us-east-1"),
            (amazon, "http://bucket.s3.eu-west-1.amazonaws.com/k", nil), (amazon, "https://evil.example/k", nil),
            (amazon, "https://s3.eu-west-1.amazonaws.com.evil.example/k", nil),
            (amazon, "https://evilamazonaws.com/k", nil), (amazon, "https://ec2.eu-west-1.amazonaws.com/", nil),
            (custom, "http://127.0.0.1:9000/bucket/k", "us-east-1"), (custom, "http://127.0.0.1:9001/bucket/k", nil),
            (custom, "https://bucket.s3.eu-west-1.amazonaws.com/k", nil),
        ]
        let wrong = try cases.filter { sample in
            let url = try #require(URL(string: sample.url))
            return sample.endpoint.regionAfterRedirect(to: url, bucket: "bucket", from: "us-east-1") != sample.region
        }
        #expect(wrong.map(\.url) == [])
    }

    @Test func settings() throws {
        let endpoint = try #require(URL(string: "http://127.0.0.1:9000"))
        let cases: [(options: S3Options, environment: [String: String], profile: [String: String], region: String)] = [
            (S3Options(), [:], [:], "us-east-1"), (S3Options(), [:], ["region": "eu-west-1"], "eu-west-1"),
            (S3Options(), ["AWS_DEFAULT_REGION": "eu-west-2"], ["region": "eu-west-1"], "eu-west-2"),
            (S3Options(), ["AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-2"], [:], "eu-west-3"),
            (S3Options(region: "eu-north-1"), ["AWS_REGION": "eu-west-3"], [:], "eu-north-1"),
            (S3Options(), ["AWS_REGION": ""], [:], "us-east-1"),
        ]
        let wrong = try cases.filter { sample in
            var options = sample.options
            options.environment = sample.environment
            return try S3Settings(options, profile: sample.profile).region != sample.region
        }
        #expect(wrong.isEmpty)
        var options = S3Options()
        options.environment = [
            "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_S3": endpoint.absoluteString,
        ]
        #expect(try S3Settings(options, profile: [:]).endpoint == S3Endpoint(endpoint, addressing: .automatic))
        options.environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true"
        #expect(
            try S3Settings(options, profile: [:]).endpoint == S3Endpoint(addressing: .automatic, usesDualStack: false))
        options.region = "evil.example/"
        #expect(throws: S3OptionsError.invalidRegion("evil.example/")) { try S3Settings(options, profile: [:]) }
    }
}
