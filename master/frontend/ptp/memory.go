// Memory as words.

package ptp

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// words is a format of memory: a format letter of gdb and the bytes of a word.
type words struct {
	format string
	size   int
	order  binary.ByteOrder
}

// maxMemory bounds the bytes that are read at once.
const maxMemory = 64 << 10

// words reads format and size; it reports an error if they are invalid.
func (j *action) words(ctx context.Context, format, size string) (words, bool) {
	w := words{format: format, order: binary.LittleEndian}
	var err error
	if w.size, err = strconv.Atoi(size); err != nil || !slices.Contains([]int{1, 2, 4, 8}, w.size) {
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("%s: words of %.10q bytes: there are those of 1, 2, 4 and 8", j.what, size))
		return w, false
	}
	if len(format) != 1 || !strings.Contains("xduotacf", format) {
		j.error(j.ranks, ptp.NotImplemented, fmt.Sprintf("%s: format %.10q: there are x, d, u, o, t, a, c and f", j.what, format))
		return w, false
	}
	if !j.littleEndian(ctx, j.ranks) {
		w.order = binary.BigEndian
	}
	return w, true
}

// bytesAt adds an offset in bytes to an address of any type.
func bytesAt(address string, offset int) string {
	if offset == 0 {
		return address
	}
	return fmt.Sprintf("(char *)(%s) + %d", address, offset)
}

// readMemory returns all rows as one, because Eclipse misreads a second one.
func readMemory(ctx context.Context, j *action, args arguments) {
	offset, ok1 := j.number(args, 0)
	rows, ok2 := j.number(args, 4)
	columns, ok3 := j.number(args, 5)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	w, ok := j.words(ctx, args[2], args[3])
	if !ok {
		return
	}
	if rows < 1 || columns < 1 || rows > maxMemory || columns > maxMemory || rows*columns*w.size > maxMemory {
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("READ MEMORY of %d rows of %d words: at most %d bytes are read at once", rows, columns, maxMemory))
		return
	}
	total := rows * columns * w.size
	asked := protocol.Args{Expr: bytesAt(args[1], offset), Count: total, Limit: everyValue}
	for _, g := range j.results(ctx, "memory read", j.ranks, asked, ptp.Unknown) {
		for _, c := range cellsOf(g, "addr", "0").by(cellsOf(g, "data", "")) {
			begin, data, _ := strings.Cut(c.value, " ")
			addr, err := strconv.ParseUint(begin, 0, 64)
			mem, bad := hex.DecodeString(data)
			if err != nil || bad != nil {
				j.error(c.ranks, ptp.Unknown, "READ MEMORY: an answer that cannot be read")
				continue
			}
			at := fmt.Sprintf("%#x", addr)
			// Java reads the addresses of the rows and pages around as decimal numbers, and does not use them.
			said := []string{at, "0", "0", "0", "0", strconv.Itoa(len(mem)), strconv.Itoa(total), "1", at, ascii(mem, args[6])}
			j.say(ptp.EventMemory, c.ranks, append(said, w.texts(mem)...)...)
		}
	}
}

// ascii returns bytes as characters, with other for those that are not printable; "" if other is
// "".
func ascii(mem []byte, other string) string {
	if other == "" {
		return ""
	}
	var b strings.Builder
	for _, c := range mem {
		if c < ' ' || c > '~' {
			b.WriteString(other)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// texts formats whole words, after their number.
func (w words) texts(mem []byte) []string {
	out := []string{""}
	for ; len(mem) >= w.size; mem = mem[w.size:] {
		out = append(out, w.text(mem[:w.size]))
	}
	out[0] = strconv.Itoa(len(out) - 1)
	return out
}

func (w words) text(mem []byte) string {
	var full [8]byte
	if w.order == binary.BigEndian {
		copy(full[8-w.size:], mem)
	} else {
		copy(full[:], mem)
	}
	v := w.order.Uint64(full[:])
	unused := 64 - 8*w.size
	signed := int64(v<<unused) >> unused
	switch {
	case w.format == "d":
		return strconv.FormatInt(signed, 10)
	case w.format == "u":
		return strconv.FormatUint(v, 10)
	case w.format == "o":
		return "0" + strconv.FormatUint(v, 8)
	case w.format == "t":
		return fmt.Sprintf("%0*b", 8*w.size, v)
	case w.format == "a":
		return fmt.Sprintf("%#x", v)
	case w.format == "c" && w.size == 1:
		return fmt.Sprintf("%d %s", signed, character(byte(v)))
	case w.format == "c":
		return strconv.FormatInt(signed, 10)
	case w.format == "f" && w.size == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case w.format == "f" && w.size == 8:
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
	}
	return fmt.Sprintf("0x%0*x", 2*w.size, v)
}

// character formats a character as gdb does.
func character(c byte) string {
	switch {
	case c == '\'' || c == '\\':
		return `'\` + string(rune(c)) + `'`
	case c >= ' ' && c <= '~':
		return "'" + string(rune(c)) + "'"
	}
	return fmt.Sprintf(`'\%03o'`, c)
}

// writeMemory writes one word. Its value is a number, or an expression that each rank evaluates.
func writeMemory(ctx context.Context, j *action, args arguments) {
	offset, ok := j.number(args, 0)
	if !ok {
		return
	}
	w, ok := j.words(ctx, args[2], args[3])
	if !ok {
		return
	}
	for _, c := range j.numbers(ctx, args[4], w) {
		data, err := w.bytes(c.value)
		if err != nil {
			j.error(c.ranks, ptp.Unknown, fmt.Sprintf("WRITE MEMORY: %.40q is no number of %d bytes", c.value, w.size))
			continue
		}
		asked := protocol.Args{Expr: bytesAt(args[1], offset), Data: data}
		for _, g := range j.results(ctx, "memory write", c.ranks, asked, ptp.Unknown) {
			j.say(ptp.EventOK, g.Ranks)
		}
	}
}

// numbers returns the values to be written and their ranks.
func (j *action) numbers(ctx context.Context, value string, w words) cells {
	if _, err := w.bytes(value); err == nil {
		return cells{{j.ranks, value}}
	}
	asked := protocol.Args{Expr: value, Limit: everyValue}
	if w.format != "f" {
		asked.Format = "d"
	}
	var out cells
	for _, g := range j.results(ctx, "print", j.ranks, asked, ptp.UnknownVariable) {
		out = append(out, cellsOf(g, "value", "")...)
	}
	return out
}

// bytes returns a number as it is in memory.
func (w words) bytes(text string) ([]byte, error) {
	v, err := w.value(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	var full [8]byte
	w.order.PutUint64(full[:], v)
	if w.order == binary.BigEndian {
		return full[8-w.size:], nil
	}
	return full[:w.size], nil
}

func (w words) value(text string) (uint64, error) {
	bits := 8 * w.size
	if w.format == "f" && w.size >= 4 {
		f, err := strconv.ParseFloat(text, bits)
		if w.size == 4 {
			return uint64(math.Float32bits(float32(f))), err
		}
		return math.Float64bits(f), err
	}
	if n, err := strconv.ParseInt(text, 0, bits); err == nil {
		return uint64(n), nil
	}
	return strconv.ParseUint(text, 0, bits)
}

// littleEndian reports whether all of the ranks are little-endian. gdb is asked once for each.
func (j *action) littleEndian(ctx context.Context, ranks rank.Set) bool {
	j.mu.Lock()
	ranks = ranks.Minus(j.little)
	j.mu.Unlock()
	for _, g := range j.ask(ctx, "gdb", ranks, protocol.Args{Text: "show endian"}) {
		switch {
		case g.Kind != protocol.KindResult:
		case strings.Contains(string(g.Body), "big endian"):
			return false
		default:
			j.mu.Lock()
			j.little = j.little.Union(g.Ranks)
			j.mu.Unlock()
		}
	}
	return true
}
