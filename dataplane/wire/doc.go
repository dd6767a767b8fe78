// Package wire is the Felix v1 client protocol as bytes: the frame header, the binary publish,
// acknowledgement and event layouts, the JSON messages, our extension frames and the hash that maps a key to
// a shard. It does no I/O, owns no goroutine and knows no room of the broker.
//
// Two habits hold everywhere:
//
//   - AppendX(dst, ...) writes one whole frame, header included, behind dst and returns the longer slice. It
//     allocates only when dst has no room.
//   - ParseX(payload, &view) fills a view that borrows payload. Nothing is copied and nothing is allocated,
//     so a view is valid for as long as the payload is left alone, and a payload may not be reused before
//     the last use of its view.
//
// Parsers are strict about what they read (counts, lengths, UTF-8, JSON types) and lenient about what they do
// not know (trailing bytes of binary frames, unknown JSON fields), as section 6 and section 9 of the wire
// protocol ask.
package wire
