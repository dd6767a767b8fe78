package cache

// queueName says in which eviction queue an entry is.
type queueName uint8

const (
	queueNone  queueName = iota // no limit, or nothing is ever evicted
	queueSmall                  // S3-FIFO probation
	queueMain                   // S3-FIFO main; the only queue of LRU
)

// queue is a doubly linked list through the entries, newest to oldest. The stripe's lock guards it.
type queue struct {
	newest, oldest *entry
	bytes          int64 // sum of charges
	count          int
}

//felix:hot
func (q *queue) push(e *entry, name queueName) {
	e.queue, e.newer, e.older = name, nil, q.newest
	if q.newest != nil {
		q.newest.newer = e
	} else {
		q.oldest = e
	}
	q.newest = e
	q.bytes += e.charge()
	q.count++
}

//felix:hot
func (q *queue) unlink(e *entry) {
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		q.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		q.oldest = e.newer
	}
	e.newer, e.older, e.queue = nil, nil, queueNone
	q.bytes -= e.charge()
	q.count--
}
