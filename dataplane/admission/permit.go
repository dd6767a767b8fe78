package admission

import "time"

// Permit is what Acquire charged: a value that travels with the work. The zero Permit holds nothing.
type Permit struct {
	conn, process *Budget
	bytes         int64
}

// Held reports whether the permit holds anything.
//
//felix:hot
func (p *Permit) Held() bool { return p.conn != nil || p.process != nil }

// Release gives back what p holds and empties it; an empty permit releases nothing.
//
//felix:hot
func (p *Permit) Release() {
	if p.process != nil {
		p.process.Release(p.bytes)
	}
	if p.conn != nil {
		p.conn.Release(p.bytes)
	}
	*p = Permit{}
}

// Acquire charges bytes to the connection's budget, then to the process's: both or neither. Either may be nil. With wait 0 it
// only tries; with a positive wait it waits so long in all; with a negative one until done is closed.
//
//felix:hot
func Acquire(conn, process *Budget, bytes int64, wait time.Duration, done <-chan struct{}) (Permit, bool) {
	// Fast path: there is room.
	if conn == nil || conn.TryAcquire(bytes) {
		if process == nil || process.TryAcquire(bytes) {
			return Permit{conn: conn, process: process, bytes: bytes}, true
		}
		if conn != nil {
			conn.Release(bytes)
		}
	}
	if wait == 0 {
		return Permit{}, false
	}
	return await(conn, process, bytes, wait, done)
}

// await is Acquire's slow path. The connection's bytes are held while the process's are waited for: a connection that waits
// must not be overtaken by its own later work.
func await(conn, process *Budget, bytes int64, wait time.Duration, done <-chan struct{}) (Permit, bool) {
	var deadline <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		deadline = t.C
	}
	if conn != nil && !conn.acquire(bytes, deadline, done) {
		return Permit{}, false
	}
	if process != nil && !process.acquire(bytes, deadline, done) {
		if conn != nil {
			conn.Release(bytes)
		}
		return Permit{}, false
	}
	return Permit{conn: conn, process: process, bytes: bytes}, true
}
