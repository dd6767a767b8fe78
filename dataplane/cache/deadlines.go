package cache

import (
	"math"
	"time"
)

// deadlines is a stripe's entries that expire, soonest first: a binary heap, each entry knowing its index
// (entry.due).
//
// A put costs at most log2(n) steps and the usual one, whose deadline is the latest, costs one. A timing
// wheel was considered: its puts are cheaper by little, but ten years need five levels, and it moves entries
// between them at times nobody chose. The deadline is copied beside the pointer so that ordering touches no
// entry.
type deadlines struct {
	line []deadline
}

type deadline struct {
	at time.Duration
	e  *entry
}

// minLine is the smallest capacity that is worth giving back.
const minLine = 64

// soonest is the earliest deadline, math.MaxInt64 when nothing expires.
func (d *deadlines) soonest() int64 {
	if len(d.line) == 0 {
		return math.MaxInt64
	}
	return int64(d.line[0].at)
}

// set gives e the deadline at; 0 takes it out of the line.
//
//felix:hot
func (d *deadlines) set(e *entry, at time.Duration) {
	e.expires = at
	switch {
	case at == 0 && e.due != 0:
		d.remove(e)
	case at == 0:
	case e.due == 0:
		d.line = append(d.line, deadline{})
		d.up(len(d.line)-1, deadline{at, e})
	default:
		d.place(int(e.due-1), deadline{at, e})
	}
}

// remove takes e out of the line.
//
//felix:hot
func (d *deadlines) remove(e *entry) {
	i, last := int(e.due-1), len(d.line)-1
	moved := d.line[last]
	d.line[last] = deadline{}
	d.line = d.line[:last]
	e.due = 0
	if i != last {
		d.place(i, moved)
	}
	if cap(d.line) > minLine && last < cap(d.line)/4 {
		d.line = append(make([]deadline, 0, cap(d.line)/2), d.line...)
	}
}

// place puts x at index i or where it belongs from there.
//
//felix:hot
func (d *deadlines) place(i int, x deadline) {
	if i > 0 && x.at < d.line[(i-1)/2].at {
		d.up(i, x)
		return
	}
	d.down(i, x)
}

//felix:hot
func (d *deadlines) up(i int, x deadline) {
	for i > 0 {
		p := (i - 1) / 2
		if d.line[p].at <= x.at {
			break
		}
		d.put(i, d.line[p])
		i = p
	}
	d.put(i, x)
}

//felix:hot
func (d *deadlines) down(i int, x deadline) {
	for {
		c := 2*i + 1
		if c >= len(d.line) {
			break
		}
		if c+1 < len(d.line) && d.line[c+1].at < d.line[c].at {
			c++
		}
		if x.at <= d.line[c].at {
			break
		}
		d.put(i, d.line[c])
		i = c
	}
	d.put(i, x)
}

//felix:hot
func (d *deadlines) put(i int, x deadline) {
	d.line[i] = x
	x.e.due = uint32(i + 1)
}
