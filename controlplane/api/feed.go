package api

// Op is what happened to an object.
type Op string

// The operations of a change row.
const (
	OpCreated Op = "created"
	OpUpdated Op = "updated"
	OpDeleted Op = "deleted"
)

// Snapshot is every object of one kind at one point in time (rule P17). Reading changes from NextSeq
// on describes every later committed change exactly once.
type Snapshot[T any] struct {
	Items   []T    `json:"items"`
	NextSeq uint64 `json:"next_seq"`
}

// Change is one row of a change feed. Item is the object after the change, or its last state when Op
// is OpDeleted. Item.Incarnation tells two lives of one name apart.
type Change[T any] struct {
	Seq  uint64 `json:"seq"`
	Op   Op     `json:"op"`
	Item T      `json:"item"`
}

// Changes is one page of a change feed: the rows from the asked sequence number on, at most 1000.
// NextSeq is the number to ask for next.
//
// The reader needs a new snapshot when the first row's Seq is greater than the number it asked for,
// when there is no row and NextSeq is greater, or when NextSeq is smaller (rule P19).
type Changes[T any] struct {
	Items   []Change[T] `json:"items"`
	NextSeq uint64      `json:"next_seq"`
}
