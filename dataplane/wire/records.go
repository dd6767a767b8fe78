package wire

import "encoding/binary"

// Records are the repeated part of publish batches, event batches and key lists: for each one a u32 length
// and that many bytes. The helpers below walk and build such a run; the parsers have already checked every
// length of a run that they hand out, so that walking it cannot fail.

// NextRecord cuts the first record off b. It returns ok false at the end of the run, and also where b is too
// short for the length it names, which cannot happen behind a parser.
//
//felix:hot
func NextRecord(b []byte) (rec, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// NextTimedRecord is NextRecord for event batches with FlagEventTimestamps: a u64 append time in microseconds
// since the Unix epoch precedes every length.
func NextTimedRecord(b []byte) (micros uint64, rec, rest []byte, ok bool) {
	micros, b, ok = takeU64(b)
	if !ok {
		return 0, nil, nil, false
	}
	rec, rest, ok = NextRecord(b)
	return micros, rec, rest, ok
}

// AppendRecord appends one record.
//
//felix:hot
func AppendRecord(dst, rec []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(rec)))
	return append(dst, rec...)
}

// AppendTimedRecord appends one record of an event batch with FlagEventTimestamps.
func AppendTimedRecord(dst []byte, micros uint64, rec []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, micros)
	return AppendRecord(dst, rec)
}

// takeRecords cuts a run of count records off b, each with extra bytes before its length, and returns the
// run, what follows it and the sum of the record lengths.
func takeRecords(b []byte, count uint32, extra int) (run, rest []byte, sum int, err error) {
	if uint64(count) > uint64(len(b)/(4+extra)) {
		return nil, nil, 0, ErrCount
	}
	at := 0
	for range count {
		if len(b)-at < 4+extra {
			return nil, nil, 0, ErrTruncated
		}
		n := uint64(binary.BigEndian.Uint32(b[at+extra:]))
		at += 4 + extra
		if n > uint64(len(b)-at) {
			return nil, nil, 0, ErrTruncated
		}
		at += int(n)
		sum += int(n)
	}
	return b[:at:at], b[at:], sum, nil
}
