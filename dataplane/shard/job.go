package shard

import (
	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/wire"
)

// Kind selects the handler of a job: it is the index into Config.Handlers.
type Kind uint8

// Verdict is what a handler says about the job it was called with.
type Verdict uint8

const (
	// Done ends the job. Whatever it still holds is settled by the scheduler, the lane takes its next one.
	Done Verdict = iota
	// Wait parks the lane with the job at its head. The handler has arranged that Lane.Wake is called, or it was
	// called already; the handler is then called again with the same *Job.
	Wait
)

// Outcome kinds every broker needs. Numbers above them belong to the author of the handlers.
const (
	// OutcomeOK means that the job did what it was asked to do.
	OutcomeOK uint8 = iota
	// OutcomeRefused means that Outcome.Refusal says why it did not, or why nobody knows.
	OutcomeRefused
)

// Outcome is the answer of a job, a fixed-size value.
type Outcome struct {
	// Kind tells what the other fields mean: OutcomeOK, OutcomeRefused or a number of the handlers' author.
	Kind uint8
	// Flag is one bit of the answer, such as the applied bit of a conditional write.
	Flag bool
	// Refusal is set with OutcomeRefused. It is shared and never written to.
	Refusal *wire.Refusal
	// Version is a version or an offset.
	Version uint64
	// Ref is a value to be sent, or none. Its receiver owns it and releases it exactly once.
	Ref arena.Ref
}

// Replier receives the answers of jobs; ingress implements it on the ordered answer window of a stream.
type Replier interface {
	// Complete hands over the answer to the request numbered seq. It never blocks, is called exactly once per job
	// that has a Reply, from any goroutine, and owns out.Ref.
	Complete(seq uint64, out Outcome)
}

// Job is one piece of ordered work: a fixed-size value of at most 192 bytes that is copied into its lane.
//
// While a job is with the scheduler the lane owns what it holds: Ref, Permit and the duty to answer. A handler that
// hands one of them to another owner takes it out of the job (TakeRef, Permit.Release, Answer), so that the job
// never holds what somebody else will release. What is left when the handler says Done is settled by the scheduler,
// and a handler that panics leaves nothing behind.
type Job struct {
	// Kind selects the handler.
	Kind Kind
	// Step belongs to the handler: 0 at the first call, kept over Wait.
	Step uint8
	// Acked says that the client waits for an answer.
	Acked bool
	// Flags belong to the handlers' author.
	Flags uint8
	// Count is the number of records.
	Count uint32
	// Off and Len bound the job's bytes within Ref.
	Off, Len int32
	// KeyLen is the length of the key at Off, where the kind has one.
	KeyLen uint32
	// Bytes is the weight of the job in its tenant's turn; below MinWeight counts as MinWeight.
	Bytes int64
	// RequestID is echoed by the answer.
	RequestID uint64
	// Seq is the number that Reply.Complete gets.
	Seq uint64
	// Arg0 and Arg1 belong to the handlers' author.
	Arg0, Arg1 uint64
	// Ref is the block with the job's bytes, or none. The job owns it.
	Ref arena.Ref
	// Permit is what admission charged for the job.
	Permit admission.Permit
	// Reply gets the answer; nil for a job nobody waits for.
	Reply Replier
}

// Answer completes the job's reply once; a second call and a job without Reply do nothing but release out.Ref.
//
//felix:hot
func (j *Job) Answer(out Outcome) {
	r := j.Reply
	if r == nil {
		if out.Ref.Valid() {
			out.Ref.Release()
		}
		return
	}
	j.Reply = nil
	r.Complete(j.Seq, out)
}

// TakeRef hands the block to the caller, who now owns it; the job holds none afterwards.
//
//felix:hot
func (j *Job) TakeRef() arena.Ref {
	r := j.Ref
	j.Ref = arena.Ref{}
	return r
}

// Settle gives back everything the job still holds: the block, the permit, and out as the answer if none was given.
//
//felix:hot
func (j *Job) Settle(out Outcome) {
	if j.Ref.Valid() {
		j.TakeRef().Release()
	}
	j.Permit.Release()
	j.Answer(out)
}

// MinWeight is what the smallest job costs its tenant, in bytes: to begin and to finish a job has a price of its own.
const MinWeight = 256

// weight is the job's cost in a tenant's turn.
func (j *Job) weight() int64 { return max(j.Bytes, MinWeight) }
