// Package ring holds the bounded queues of the data plane and the bells that wake their consumers. Every queue on a message's
// way is one of these.
package ring
