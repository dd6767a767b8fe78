// Package route says who serves a shard now: this broker, another one, or nobody.
//
// A lone broker serves every shard of everything in its catalog, so every decision about an existing shard is
// Local. The answers have the form that several brokers need: a node and an address to forward to, a
// generation to compare, and a refusal that is sent as it is.
package route
