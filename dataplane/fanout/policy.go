package fanout

import "fmt"

// Policy is what a full Queue does with one more envelope.
type Policy uint8

const (
	// DropNew refuses the new envelope and counts its records: a slow subscriber loses, nobody waits.
	DropNew Policy = iota
	// Block makes the offering lane wait for room: a slow subscriber loses nothing, its shard's publishers wait.
	Block
)

// ParsePolicy returns the policy of that configuration name, "drop_new" or "block", or an error wrapping ErrPolicy.
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "drop_new":
		return DropNew, nil
	case "block":
		return Block, nil
	}
	return 0, fmt.Errorf("%w %q, want drop_new or block (subscriber_queue_policy)", ErrPolicy, name)
}

// String returns the configuration name.
func (p Policy) String() string {
	if p == Block {
		return "block"
	}
	return "drop_new"
}
