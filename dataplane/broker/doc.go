// Package broker builds the rooms of the data plane, connects them, and owns the order in which they start and stop. It has
// no logic of its own: what a message meets is written in the rooms; docs/data-path.md walks through them.
package broker
