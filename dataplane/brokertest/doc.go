// Package brokertest runs the real broker in process for anybody's tests: real sockets, real logins, a real control plane
// over an embedded etcd member that all tests of a binary share.
//
//	func TestMain(m *testing.M) { brokertest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		n := brokertest.Start(t, nil)
//		n.Stream("orders", 1)
//		token := n.Token("stream.publish:stream:" + n.Tenant + "/default/orders")
//		…                       // dial n.Addr() with n.CAFile() and token
//		n.Quiesce()             // every gauge back to exactly zero
//	}
package brokertest
