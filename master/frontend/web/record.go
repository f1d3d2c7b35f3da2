// The last events, for pages that come or come back.

package web

// Bounds of a record: what a page can show anyway.
const (
	maxRecord = 4 << 20 // bytes
	maxLines  = 16_384
)

// record keeps the last events as lines of JSON. A cursor is the number of lines before a place. It is pure.
type record struct {
	lines [][]byte // the oldest first
	bytes int
	first uint64 // cursor of the first line
}

func (r *record) end() uint64 { return r.first + uint64(len(r.lines)) }

// add adds a line, and forgets old ones.
func (r *record) add(line []byte) {
	r.lines = append(r.lines, line)
	r.bytes += len(line)
	for r.bytes > maxRecord && len(r.lines) > 1 || len(r.lines) > maxLines {
		r.bytes -= len(r.lines[0])
		r.lines[0] = nil
		r.lines = r.lines[1:]
		r.first++
	}
}

// from returns the lines after a cursor, of at most so many bytes unless the first is longer, the cursor after them,
// and how many lines before them are forgotten. A cursor that is not of this record counts as its begin.
func (r *record) from(cursor uint64, bytes int) (lines [][]byte, next, missed uint64) {
	if cursor > r.end() {
		cursor = r.first
	}
	if cursor < r.first {
		cursor, missed = r.first, r.first-cursor
	}
	for next = cursor; next < r.end(); next++ {
		line := r.lines[next-r.first]
		if bytes -= len(line); bytes < 0 && len(lines) > 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines, next, missed
}
